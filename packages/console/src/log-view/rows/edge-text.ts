import { absenceText } from '@porthole/contract';
import type { ZoneName } from '../../state/view.ts';
import { formatBytes, formatCount, formatShortTime } from '../../ui/format.ts';
import type { Edge, FollowStatus } from '../model/workspace-state.ts';

/** The text at one end of the rows, and the action it offers. */
export interface EdgeText {
  text: string;
  action: 'stop' | 'continue' | 'show' | 'retry' | null;
  /** Label of the action button. */
  label: string;
  isProblem: boolean;
}

/** Loading that takes less time is not reported. */
const QUIET_MS = 400;

export interface EdgeSituation {
  side: 'top' | 'bottom';
  hasRows: boolean;
  isFiltered: boolean;
  follow: Pick<FollowStatus, 'state' | 'newRecords'>;
  /** The time range ends here, not the log. */
  isBounded: boolean;
  /** Either end is still loading. */
  isLoading: boolean;
  /** The other end is complete, too. */
  isOtherDone: boolean;
  /** Some nodes did not respond, or some files could not be read. */
  isPartial: boolean;
  zone: ZoneName;
  nowMs: number;
}

export function edgeText(edge: Edge, situation: EdgeSituation): EdgeText {
  const { side, zone, nowMs } = situation;
  if (edge.kind === 'failed')
    return { text: `${edge.code}: ${edge.detail}`, action: 'retry', label: 'retry', isProblem: true };
  if (edge.kind === 'more') return quiet('');
  if (edge.kind === 'done' && side === 'bottom' && situation.follow.state === 'paused') return pausedText(situation);
  if (edge.kind === 'done') return quiet(doneText(edge.scannedBytes, situation));
  const reached = edge.reachedMs === null ? '' : ` back to ${formatShortTime(edge.reachedMs, zone, nowMs)}`;
  if (edge.kind === 'loading') {
    if (nowMs - edge.sinceMs < QUIET_MS) return quiet('');
    const scanned = edge.scannedBytes > 0 ? `scanned ${formatBytes(edge.scannedBytes)}${reached}` : 'loading…';
    return { text: scanned, action: 'stop', label: 'Stop', isProblem: false };
  }
  const found = situation.hasRows
    ? `Scan stopped after ${formatBytes(edge.scannedBytes)}${reached}`
    : noMatch(edge.scannedBytes);
  return { text: found, action: 'continue', label: 'continue', isProblem: false };
}

/** `Paused · 20 new lines`, with a button that shows them. */
function pausedText({ hasRows, isLoading, follow: { newRecords } }: EdgeSituation): EdgeText {
  if (newRecords === 0) return quiet(!hasRows && isLoading ? '' : 'Paused');
  const text = `Paused · ${formatCount(newRecords)} new ${newRecords === 1 ? 'line' : 'lines'}`;
  return { text, action: 'show', label: 'show', isProblem: false };
}

function doneText(scannedBytes: number, situation: EdgeSituation): string {
  const { side, hasRows, follow, isBounded, isLoading } = situation;
  if (!hasRows && isLoading) return '';
  if (!hasRows && side === 'top') return emptyText(scannedBytes, situation);
  if (side === 'bottom' && follow.state === 'live') return 'Following · new lines appear here';
  if (!hasRows) return '';
  return `${side === 'top' ? 'start' : 'end'} of the ${isBounded ? 'time range' : 'log'}`;
}

/** Calls the log empty only if all of it was scanned. */
function emptyText(scannedBytes: number, { isFiltered, isOtherDone, isPartial }: EdgeSituation): string {
  const searched = ` (${formatBytes(scannedBytes)} searched)`;
  const coverage = { isComplete: !isPartial };
  if (isFiltered) return `${absenceText(isOtherDone ? 'No matches' : 'No older matches', coverage)}${searched}`;
  return isPartial || !isOtherDone ? `${absenceText('No records', coverage)}${searched}` : 'The log is empty';
}

function noMatch(scannedBytes: number): string {
  return `No match in the last ${formatBytes(scannedBytes)}`;
}

function quiet(text: string): EdgeText {
  return { text, action: null, label: '', isProblem: false };
}
