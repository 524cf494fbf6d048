import type { MemberReport } from '@porthole/client';
import { outcomeText } from '@porthole/contract';
import { diskNotice, type KnownConfig, runningNotice } from '../../config/setting-values.ts';
import { preferences } from '../../state/preferences.ts';
import { LinkButton } from '../../ui/controls.tsx';
import { formatShortTime } from '../../ui/format.ts';
import { useNow, useStore } from '../../ui/hooks.ts';

/** Warns that files and what runs differ, and of what could not be read. */
export function DiskNote({ settings }: Pick<KnownConfig, 'settings'>) {
  if (!settings) return null;
  const problems = (settings.problems ?? []).map((text) => ({ text, detail: null }));
  const notices = [diskNotice(settings), runningNotice(settings), ...problems];
  return (
    <>
      {notices.map(
        (notice) =>
          notice && (
            <span key={notice.text} class="chip is-warn" role="note">
              <strong>{notice.text}</strong>
              {notice.detail !== null && <span class="warn-detail"> {notice.detail}</span>}
            </span>
          ),
      )}
    </>
  );
}

/** `as of 10:41`, for data that is not current. */
export function AsOf({ report }: { report: MemberReport }) {
  const zone = useStore(preferences.zone);
  const nowMs = useNow(60_000);
  const why = `${outcomeText(report.outcome)}${report.detail === null ? '' : `: ${report.detail}`}`;
  return (
    <span class="as-of" title={why}>
      {report.asOfMs === null ? outcomeText(report.outcome) : `as of ${formatShortTime(report.asOfMs, zone, nowMs)}`}
    </span>
  );
}

/** Says why settings have no marks; renders nothing if they have. */
export function NoSettingsNote({ settings, settingsProblem, report }: KnownConfig) {
  if (settings || !settingsProblem || report.outcome !== 'ok') return null;
  if (settingsProblem.code === 'NOT_SUPPORTED' || settingsProblem.code === 'ROUTE_NOT_FOUND')
    return (
      <p class="config-note">This node reports its configuration only as text; defaults and sources are unknown.</p>
    );
  return (
    <p class="config-note">
      Defaults and sources are unknown: <code>{settingsProblem.code}</code> {settingsProblem.detail}
    </p>
  );
}

/** Says why a node has no configuration to show. */
export function NoTextNote({ report, onRetry }: { report: MemberReport; onRetry: () => void }) {
  return (
    <p class="dim wraps config-empty" role="status">
      No configuration available for <strong>{report.id}</strong>: {outcomeText(report.outcome)}
      {report.detail !== null && <> · {report.detail}</>} · <LinkButton onClick={onRetry}>retry</LinkButton>
    </p>
  );
}
