import { nodeColour } from '../../state/cluster.ts';
import { preferences } from '../../state/preferences.ts';
import { formatSecond, formatShortTime } from '../../ui/format.ts';
import { useNow } from '../../ui/hooks/use-now.ts';
import { useStore } from '../../ui/hooks/use-store.ts';
import type { Row } from '../model/workspace-state.ts';
import { CELL, ROW } from './grid-roles.ts';

type GapRow = Extract<Row, { kind: 'gap' }>;
type EventRow = Extract<Row, { kind: 'event' }>;

/** Records that are not here, with a way to have them where there is one. */
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

/** `storage-3 gone since 17:06 · its lines after 17:05:58 are missing, those before are from its snapshot` */
function SnapshotText({ node, text, snapshot }: Pick<GapRow, 'node' | 'text'> & Required<Pick<GapRow, 'snapshot'>>) {
  const zone = useStore(preferences.zone);
  const nowMs = useNow(60_000);
  const { asOfMs, sinceMs } = snapshot;
  const since = sinceMs === null ? '' : ` since ${formatShortTime(sinceMs, zone, nowMs)}`;
  const asOf = formatSecond(asOfMs, zone);
  return (
    <b>
      {node} {text}
      {since} · its lines after {asOf} are missing, those before are from its snapshot as of then
    </b>
  );
}

/** What happened to the log or the connection between two records. */
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
