import { useEffect, useState } from 'preact/hooks';
import { nodeColour } from '../../state/cluster.ts';
import { preferences } from '../../state/preferences.ts';
import { formatSecond, formatShortTime } from '../../ui/format.ts';
import { useNow, useStore } from '../../ui/hooks.ts';
import type { Edge, Row, Workspace } from '../model/workspace-state.ts';
import { type EdgeSituation, edgeText } from './edge-text.ts';
import { CELL, ROW } from './grid-roles.ts';

type GapRow = Extract<Row, { kind: 'gap' }>;

type EventRow = Extract<Row, { kind: 'event' }>;

/** How often the progress of loading is updated. */
const TICK_MS = 400;

interface EdgeLineProps {
  edge: Edge;
  situation: Omit<EdgeSituation, 'nowMs'>;
  workspace: Workspace;
}

/** Missing records, with a button to load them if they can be loaded. */
export function GapLine({ row, onLoad }: { row: GapRow; onLoad: (key: string) => void }) {
  return (
    <div class="row row-gap" {...ROW}>
      <span {...CELL}>
        {row.snapshot ? <SnapshotText {...row} snapshot={row.snapshot} /> : <b>{row.text}</b>}
        {row.isLoading ? <b> · loading…</b> : null}
        {row.canLoad && !row.isLoading ? (
          <button type="button" onClick={() => onLoad(row.key)}>
            · load
          </button>
        ) : null}
      </span>
    </div>
  );
}

/** `storage-3 stopped responding 17:06 · no lines after 17:05:58; earlier ones are from its snapshot` */
function SnapshotText({ node, text, snapshot }: Pick<GapRow, 'node' | 'text'> & Required<Pick<GapRow, 'snapshot'>>) {
  const zone = useStore(preferences.zone);
  const nowMs = useNow(60_000);
  const { asOfMs, sinceMs, from } = snapshot;
  const since = sinceMs === null ? '' : ` ${formatShortTime(sinceMs, zone, nowMs)}`;
  const asOf = formatSecond(asOfMs, zone);
  return (
    <b>
      {node} {text}
      {since} · no lines after {asOf}; earlier ones are from {from}
    </b>
  );
}

/** Something that happened to the log or the connection between two records. */
export function EventLine({ row }: { row: EventRow }) {
  const colour = row.node === null ? '' : `node-${nodeColour(row.node)}`;
  return (
    <div class={`row row-event ${row.isProblem ? 'is-problem' : ''} ${colour}`} {...ROW}>
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
    else workspace.retry();
  };
  return (
    <div class={`edge ${isProblem ? 'is-problem' : ''}`} {...ROW}>
      <span {...CELL}>
        {isLoading && text ? <i class="spinner" aria-hidden="true" /> : null}
        {text}
        {action ? (
          <button type="button" class="link-button" onClick={act}>
            · {label}
          </button>
        ) : null}
      </span>
    </div>
  );
}
