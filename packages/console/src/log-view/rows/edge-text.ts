import type { ZoneName } from '../../state/view.ts';
import { formatBytes, formatShortTime } from '../../ui/format.ts';
import type { Edge, FollowStatus } from '../model/workspace-state.ts';

/** What stands at an end of the rows, and what can be done there. */
export interface EdgeText {
  text: string;
  action: 'stop' | 'go on' | 'retry' | null;
  /** The words of the action, as its button says them. */
  label: string;
  isProblem: boolean;
}

/** Nothing that took less is worth a word. */
const QUIET_MS = 400;

export interface EdgeSituation {
  side: 'top' | 'bottom';
  hasRows: boolean;
  isFiltered: boolean;
  follow: FollowStatus['state'];
  /** A range of time ends here, not the log. */
  isBounded: boolean;
  /** Something is still being loaded, at either end. */
  isLoading: boolean;
  /** Nothing is left at the other end either. */
  isOtherDone: boolean;
  /** Nodes did not respond, or files could not be read: what they have is not known. */
  isPartial: boolean;
  zone: ZoneName;
  nowMs: number;
}

export function edgeText(edge: Edge, situation: EdgeSituation): EdgeText {
  const { side, zone, nowMs } = situation;
  const away = side === 'top' ? 'older' : 'newer';
  if (edge.kind === 'failed')
    return { text: `${edge.code}: ${edge.detail}`, action: 'retry', label: 'retry', isProblem: true };
  if (edge.kind === 'more') return quiet('');
  if (edge.kind === 'done') return quiet(doneText(edge.scannedBytes, situation));
  const reached = edge.reachedMs === null ? '' : ` back to ${formatShortTime(edge.reachedMs, zone, nowMs)}`;
  if (edge.kind === 'loading') {
    if (nowMs - edge.sinceMs < QUIET_MS) return quiet('');
    const scanned = edge.scannedBytes > 0 ? `scanned ${formatBytes(edge.scannedBytes)}${reached}` : 'loading…';
    return { text: scanned, action: 'stop', label: 'Stop', isProblem: false };
  }
  const found = situation.hasRows
    ? `Looked through ${formatBytes(edge.scannedBytes)}${reached}`
    : noMatch(edge.scannedBytes);
  return { text: found, action: 'go on', label: `scan ${away}`, isProblem: false };
}

function doneText(scannedBytes: number, situation: EdgeSituation): string {
  const { side, hasRows, follow, isBounded, isLoading } = situation;
  if (!hasRows && isLoading) return '';
  if (!hasRows && side === 'top') return emptyText(scannedBytes, situation);
  if (side === 'bottom' && follow === 'live') return 'following · new lines appear here';
  if (side === 'bottom' && follow === 'paused') return 'paused · new lines wait';
  if (!hasRows) return '';
  return `${side === 'top' ? 'start' : 'end'} of the ${isBounded ? 'time range' : 'log'}`;
}

/** Only what was really scanned is called empty. */
function emptyText(scannedBytes: number, { isFiltered, isOtherDone, isPartial }: EdgeSituation): string {
  const searched = ` (${formatBytes(scannedBytes)} searched)`;
  const missing = isPartial ? ' · not every node or file could be searched' : '';
  if (isFiltered) return `${isOtherDone ? 'No matches' : 'No older matches'}${searched}${missing}`;
  return isPartial || !isOtherDone ? `No records${searched}${missing}` : 'The log is empty';
}

function noMatch(scannedBytes: number): string {
  return `No match in the last ${formatBytes(scannedBytes)}`;
}

function quiet(text: string): EdgeText {
  return { text, action: null, label: '', isProblem: false };
}
