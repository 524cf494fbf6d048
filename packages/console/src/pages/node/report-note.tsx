import type { MemberReport } from '@porthole/client';
import { outcomeText } from '@porthole/contract';
import { preferences } from '../../state/preferences.ts';
import { formatSecond } from '../../ui/format.ts';
import { useStore } from '../../ui/hooks.ts';

/** Says what a response lacks: the node did not respond, or its response is incomplete. */
export function ReportNote({ report }: { report: MemberReport | null }) {
  const zone = useStore(preferences.zone);
  if (!report || (report.outcome === 'ok' && report.detail === null)) return null;
  return (
    <p class="partial">
      <span title={report.detail ?? undefined}>
        {report.outcome === 'ok' ? `Incomplete: ${report.detail}` : `No response: ${outcomeText(report.outcome)}`}
      </span>
      {report.asOfMs !== null && ` · showing its snapshot as of ${formatSecond(report.asOfMs, zone)}`}
    </p>
  );
}
