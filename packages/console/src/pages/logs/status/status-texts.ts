import { hiddenBelow, isPartialCount } from '../../../log-view/chart/level-counts.ts';
import { isPart } from '../../../log-view/model/reports.ts';
import type { WorkspaceState } from '../../../log-view/model/workspace-state.ts';
import { recordTime } from '../../../log-view/rows/record-text.ts';
import type { ShownRecord } from '../../../log-view/source/log-source.ts';
import type { ZoneName } from '../../../state/view.ts';
import { formatBytes, formatCount, formatDate, formatShortTime, formatSpan, formatTime } from '../../../ui/format.ts';

/** Whether the counts are complete. */
function isCounted(histogram: WorkspaceState['histogram']): boolean {
  return histogram !== null && !isPartialCount(histogram);
}

/** Whether the rows are all matches: both ends done, no gaps, every node and file read. */
function isEverything({ top, bottom, rows, members, problems }: StatusInput['state']): boolean {
  return (
    !isPart({ members, problems }) &&
    top.kind === 'done' &&
    bottom.kind === 'done' &&
    rows.every(({ kind }) => kind !== 'gap')
  );
}

export interface StatusInput {
  state: Pick<
    WorkspaceState,
    'extent' | 'follow' | 'histogram' | 'filter' | 'top' | 'bottom' | 'rows' | 'members' | 'problems'
  >;
  /** The focused record, or the last one in view. */
  record: ShownRecord | null;
  /** Its position in the whole log. */
  fraction: number | undefined;
  zone: ZoneName;
  nowMs: number;
}

/** The items of the status bar, from the left. */
export function statusTexts(input: StatusInput): string[] {
  const { state } = input;
  const hidden = state.histogram ? hiddenBelow(state.histogram, state.filter.minLevel ?? null) : 0;
  return [
    positionText(input),
    ...rateTexts(state.follow),
    hidden > 0 ? `${formatCount(hidden)}${isCounted(state.histogram) ? '' : '+'} hidden by level` : '',
    scanText(input),
    archiveText(state.members),
  ].filter((text) => text !== '');
}

function positionText({ state: { extent }, record, fraction, zone, nowMs }: StatusInput): string {
  const timeMs = record ? recordTime(record) : undefined;
  const isToday = timeMs !== undefined && formatDate(timeMs, zone) === formatDate(nowMs, zone);
  const time =
    timeMs === undefined ? '' : `${isToday ? '' : `${formatDate(timeMs, zone)} `}${formatTime(timeMs, zone)}`;
  const share = fraction === undefined ? '' : `${(fraction * 100).toFixed(1)} %`;
  const total = extent?.kind === 'bytes' && share ? ` of ${formatBytes(extent.totalBytes)}` : '';
  return [time, share + total].filter((text) => text !== '').join(' · ');
}

function rateTexts({ state, linesPerSecond, lagMs }: WorkspaceState['follow']): string[] {
  if (state === 'off') return [];
  const isWhole = linesPerSecond >= 10 || linesPerSecond < 0.05;
  const rate = isWhole ? formatCount(Math.round(linesPerSecond)) : linesPerSecond.toFixed(1);
  return [`${rate} lines/s`, lagMs === null ? '' : `lag ${formatSpan(Math.max(0, lagMs))}`];
}

/** Whether records are no longer on the disk of their node, or were never looked for there. */
function archiveText(members: WorkspaceState['members']): string {
  const count = members.reduce((sum, { archive }) => sum + (archive?.count ?? 0), 0);
  return count === 0 ? '' : `${formatCount(count)} from the archive`;
}

/** How far back was scanned, if the rows do not show it. */
function scanText({ state, zone, nowMs }: StatusInput): string {
  const { top } = state;
  if (top.kind === 'done' && top.scannedBytes > 0)
    return `scanned ${formatBytes(top.scannedBytes)}${isEverything(state) ? ' · every match is shown' : ''}`;
  if (top.kind !== 'stopped' || top.reachedMs === null) return '';
  return `scanned ${formatBytes(top.scannedBytes)} back to ${formatShortTime(top.reachedMs, zone, nowMs)}`;
}
