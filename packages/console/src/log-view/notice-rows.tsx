import { colourOf } from '../state/cluster.ts';
import { CELL, ROW } from './grid-roles.ts';
import type { Row } from './workspace-state.ts';

type GapRow = Extract<Row, { kind: 'gap' }>;
type EventRow = Extract<Row, { kind: 'event' }>;

/** Records that are not here, with a way to have them where there is one. */
export function GapLine({ row, onLoad }: { row: GapRow; onLoad: (key: string) => void }) {
  return (
    <div class="row row-gap" {...ROW}>
      <span {...CELL}>
        <b>{row.text}</b>
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

/** What happened to the log or the connection between two records. */
export function EventLine({ row }: { row: EventRow }) {
  const colour = row.node === null ? '' : `node-${colourOf(row.node)}`;
  return (
    <div class={`row row-event ${row.isProblem ? 'is-problem' : ''} ${colour}`} {...ROW}>
      <span {...CELL}>
        {row.node === null ? null : <b class="row-node">{row.node} </b>}
        {row.text}
      </span>
    </div>
  );
}
