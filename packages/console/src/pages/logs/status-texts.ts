import { hiddenBelow } from '../../log-view/level-counts.ts';
import type { ShownRecord } from '../../log-view/log-source.ts';
import { timeOf } from '../../log-view/record-text.ts';
import type { WorkspaceState } from '../../log-view/workspace-state.ts';
import type { ZoneName } from '../../state/view.ts';
import { formatBytes, formatCount, formatDate, formatMoment, formatSpan, formatTime } from '../../ui/format.ts';

export interface StatusInput {
  state: Pick<WorkspaceState, 'extent' | 'follow' | 'histogram' | 'filter' | 'top' | 'rows'>;
  /** The focused record, or the last one in view. */
  record: ShownRecord | null;
  /** Where it stands in the whole log. */
  fraction: number | undefined;
  zone: ZoneName;
  nowMs: number;
}

/** What the status bar says, from the left. */
export function statusTexts(input: StatusInput): string[] {
  const { state } = input;
  const hidden = state.histogram ? hiddenBelow(state.histogram, state.filter.minLevel ?? null) : 0;
  return [
    placeText(input),
    ...rateTexts(state.follow),
    hidden > 0 ? `${formatCount(hidden)} hidden by level` : '',
    scanText(input),
  ].filter((text) => text !== '');
}

function placeText({ state: { extent }, record, fraction, zone, nowMs }: StatusInput): string {
  const timeMs = record ? timeOf(record) : undefined;
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

/** How far back has been looked, where that is not plain from the rows. */
function scanText({ state: { top }, zone, nowMs }: StatusInput): string {
  if (top.kind === 'done') return top.scannedBytes > 0 ? `scanned ${formatBytes(top.scannedBytes)} · all of it` : '';
  if (top.kind !== 'stopped' || top.reachedMs === null) return '';
  return `scanned ${formatBytes(top.scannedBytes)} back to ${formatMoment(top.reachedMs, zone, nowMs)}`;
}
