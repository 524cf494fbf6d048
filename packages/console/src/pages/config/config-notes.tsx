import type { MemberReport } from '@porthole/client';
import { diskNotice } from '../../config/disk-notice.ts';
import { outcomeLabel } from '../../config/drift-text.ts';
import type { KnownConfig } from '../../config/load-node-config.ts';
import { preferences } from '../../state/preferences.ts';
import { formatShortTime } from '../../ui/format.ts';
import { useNow } from '../../ui/hooks/use-now.ts';
import { useStore } from '../../ui/hooks/use-store.ts';

/** Says that the file on disk is not what the node runs with. */
export function DiskNote({ settings }: Pick<KnownConfig, 'settings'>) {
  const diskChange = settings && diskNotice(settings);
  if (!diskChange) return null;
  return (
    <span class="warn-note" role="note">
      <strong>{diskChange.text}</strong>
      {diskChange.detail !== null && <span class="warn-detail"> {diskChange.detail}</span>}
    </span>
  );
}

/** `as of 10:41`, of what is not known from now. */
export function AsOf({ report }: { report: MemberReport }) {
  const zone = useStore(preferences.zone);
  const nowMs = useNow(60_000);
  const why = `${outcomeLabel(report.outcome)}${report.detail === null ? '' : `: ${report.detail}`}`;
  return (
    <span class="as-of" title={why}>
      {report.asOfMs === null ? outcomeLabel(report.outcome) : `as of ${formatShortTime(report.asOfMs, zone, nowMs)}`}
    </span>
  );
}

/** Why there are no marks; nothing where there are. */
export function NoSettingsNote({ settings, settingsProblem, report }: KnownConfig) {
  if (settings || !settingsProblem || report.outcome !== 'ok') return null;
  if (settingsProblem.code === 'NOT_SUPPORTED' || settingsProblem.code === 'ROUTE_NOT_FOUND')
    return (
      <p class="config-note">This node tells its configuration only as text: defaults and sources are not known.</p>
    );
  return (
    <p class="config-note">
      Defaults and sources are not known: <code>{settingsProblem.code}</code> {settingsProblem.detail}
    </p>
  );
}

/** Why there is nothing to show of a node. */
export function NoTextNote({ report, onRetry }: { report: MemberReport; onRetry: () => void }) {
  return (
    <p class="config-empty" role="status">
      No configuration of <strong>{report.id}</strong> is known: {outcomeLabel(report.outcome)}
      {report.detail !== null && <> · {report.detail}</>} ·{' '}
      <button type="button" class="link-button" onClick={onRetry}>
        retry
      </button>
    </p>
  );
}
