import { absenceText } from '@porthole/contract';
import { useEffect, useState } from 'preact/hooks';
import { preferences } from '../../state/preferences.ts';
import { nodeStyle } from '../../state/resource.ts';
import type { ZoneName } from '../../state/view.ts';
import { LinkButton } from '../../ui/controls.tsx';
import { formatBytes, formatCounted, formatShortTime, recordedText } from '../../ui/format.ts';
import { useNow, useStore } from '../../ui/hooks.ts';
import type { Edge, FollowStatus, Row } from '../model/workspace-state.ts';
import type { LogWorkspace } from '../workspace/log-workspace.ts';
import { CELL, ROW } from './record-row.tsx';

type GapRow = Extract<Row, { kind: 'gap' }>;

type EventRow = Extract<Row, { kind: 'event' }>;

const TICK_MS = 400;

interface EdgeLineProps {
  edge: Edge;
  situation: Omit<EdgeSituation, 'nowMs'>;
  workspace: LogWorkspace;
}

/** Missing records, with a button to load them if they can be loaded. */
export function GapLine({ row, onLoad }: { row: GapRow; onLoad: (key: string) => void }) {
  return (
    <div class="row row-gap" {...ROW}>
      <span {...CELL}>
        {row.recorded ? <RecordedText {...row} recorded={row.recorded} /> : <b>{row.text}</b>}
        {row.failure ? <b> · {row.failure}</b> : null}
        {row.isLoading ? <b> · loading…</b> : null}
        {row.range && !row.isLoading ? (
          <button type="button" onClick={() => onLoad(row.key)}>
            · load
          </button>
        ) : null}
      </span>
    </div>
  );
}

/** `storage-3 stopped responding 17:06 · recorded by storage-1, until 17:05:58.118 (0.3 s before it was lost)` */
function RecordedText({ node, text, recorded }: Pick<GapRow, 'node' | 'text'> & Required<Pick<GapRow, 'recorded'>>) {
  const zone = useStore(preferences.zone);
  const nowMs = useNow(60_000);
  const { sinceMs = null } = recorded;
  const since = sinceMs === null ? '' : ` ${formatShortTime(sinceMs, zone, nowMs)}`;
  return (
    <b>
      {node} {text}
      {since} · {recordedText(recorded, zone)}
    </b>
  );
}

/** Something that happened to the log or the connection between two records. */
export function EventLine({ row }: { row: EventRow }) {
  return (
    <div
      class={`row row-event ${row.isProblem ? 'is-problem' : ''}`}
      style={row.node === null ? {} : nodeStyle(row.node)}
      {...ROW}
    >
      <span {...CELL}>
        {row.node === null ? null : <b class="row-node">{row.node} </b>}
        {row.text}
      </span>
    </div>
  );
}

/** The line above the first row or below the last one. */
export function EdgeLine({ edge, situation, workspace }: EdgeLineProps) {
  const [, tick] = useState(0);
  const isLoading = edge.kind === 'loading';
  useEffect(() => {
    if (!isLoading) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [isLoading]);
  const { text, action, label, isProblem } = edgeText(edge, { ...situation, nowMs: Date.now() });
  const act = () => {
    if (action === 'stop') workspace.stopLoading();
    else if (action === 'show') workspace.resume();
    else if (edge.kind === 'more') workspace.loadMore(situation.side === 'top' ? 'older' : 'newer');
    else workspace.retry();
  };
  return (
    <div class={`edge ${isProblem ? 'is-problem' : ''}`} {...ROW}>
      <span {...CELL}>
        {isLoading && text ? <i class="spinner" aria-hidden="true" /> : null}
        {text}
        {action ? <LinkButton onClick={act}>· {label}</LinkButton> : null}
      </span>
    </div>
  );
}

/** The text at one end of the rows, and the action it offers. */
interface EdgeText {
  text: string;
  action: 'stop' | 'continue' | 'show' | 'retry' | null;
  label: string;
  isProblem: boolean;
}

/** Loading that takes less time is not reported. */
const QUIET_MS = 400;

interface EdgeSituation {
  side: 'top' | 'bottom';
  hasRows: boolean;
  isFiltered: boolean;
  follow: Pick<FollowStatus, 'state' | 'newRecords'>;
  /** The time range ends here, not the log. */
  isBounded: boolean;
  isLoading: boolean;
  /** The other end is complete, too. */
  isOtherDone: boolean;
  /** Some nodes did not respond, or some files could not be read. */
  isPartial: boolean;
  /** How many records are loaded, if more are not loaded by themselves. */
  heldRecords: number | null;
  zone: ZoneName;
  nowMs: number;
}

export function edgeText(edge: Edge, situation: EdgeSituation): EdgeText {
  const { side, zone, nowMs } = situation;
  if (edge.kind === 'failed')
    return { text: `${edge.code}: ${edge.detail}`, action: 'retry', label: 'retry', isProblem: true };
  if (edge.kind === 'more') return situation.heldRecords === null ? quiet('') : moreText(situation.heldRecords);
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

/** Few rows stand for many records: more are not loaded by themselves. */
function moreText(heldRecords: number): EdgeText {
  const text = `${formatCounted(heldRecords, 'line')} loaded, most of them repeated`;
  return { text, action: 'continue', label: 'load more', isProblem: false };
}

/** `Paused · 20 new lines`, with a button that shows them. */
function pausedText({ hasRows, isLoading, follow: { newRecords } }: EdgeSituation): EdgeText {
  if (newRecords === 0) return quiet(!hasRows && isLoading ? '' : 'Paused');
  const text = `Paused · ${formatCounted(newRecords, 'new line')}`;
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
function emptyText(scannedBytes: number, situation: EdgeSituation): string {
  const { isFiltered, isOtherDone, isPartial, isBounded } = situation;
  const searched = ` (${formatBytes(scannedBytes)} searched)`;
  const coverage = { isComplete: !isPartial };
  if (isFiltered) return `${absenceText(isOtherDone ? 'No matches' : 'No older matches', coverage)}${searched}`;
  if (isPartial || !isOtherDone) return `${absenceText('No records', coverage)}${searched}`;
  return isBounded ? 'No records in this time range' : 'The log is empty';
}

function noMatch(scannedBytes: number): string {
  return `No match in the last ${formatBytes(scannedBytes)}`;
}

function quiet(text: string): EdgeText {
  return { text, action: null, label: '', isProblem: false };
}
