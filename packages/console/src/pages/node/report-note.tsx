import type { MemberReport } from '@porthole/client';
import { preferences } from '../../state/preferences.ts';
import { formatSecond } from '../../ui/format.ts';
import { useStore } from '../../ui/hooks/use-store.ts';
import { outcomeText } from '../../ui/missing-members.ts';

/** Says what is not in an answer: a node that did not answer, or one that did not look at everything. */
export function ReportNote({ report }: { report: MemberReport | null }) {
  const zone = useStore(preferences.zone);
  if (!report || (report.outcome === 'ok' && report.detail === null)) return null;
  return (
    <p class="partial">
      <span title={report.detail ?? undefined}>
        {report.outcome === 'ok' ? `Not complete: ${report.detail}` : `No answer: ${outcomeText(report.outcome)}`}
      </span>
      {report.asOfMs !== null && ` · this is its snapshot as of ${formatSecond(report.asOfMs, zone)}`}
    </p>
  );
}
