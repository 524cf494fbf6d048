import type { ClusterHistogram, MemberReport, MemberSelection } from '@porthole/client';
import { session } from '../../state/session.ts';
import { closedRange, type TimeRange } from '../../state/time-range.ts';
import { formatCounted } from '../../ui/format.ts';

/* Errors of nodes over time, as cells. */

/** Time budget of counts; longer ones are partial. */
const COUNT_MS = 5000;

/** A minute each in an hour. */
const CELLS = 60;

/** Widths of cells that people count in. */
const CELL_MS = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map(
  (seconds) => seconds * 1000,
);

/** The cells of the strip: whole units of the clock, the last one contains the end. */
export interface StripRange {
  fromMs: number;
  toMs: number;
  bucketMs: number;
  count: number;
}

/** Errors of each node over time. */
export interface ErrorStrip {
  range: StripRange;
  byNode: ReadonlyMap<string, NodeCells>;
  /** The highest count of a cell. */
  most: number;
  members: readonly MemberReport[];
  coverage?: ClusterHistogram['coverage'];
}

export interface NodeCells {
  /** Errors; `null`: not read, or the node was gone by then. */
  cells: readonly (number | null)[];
  errors: number;
}

/** Counts errors in a range that is closed by now. */
export async function loadErrorStrip(
  selection: MemberSelection,
  range: TimeRange | null,
  signal: AbortSignal,
): Promise<ErrorStrip> {
  const cells = stripRange(closedRange(range, Date.now()));
  const { fromMs, toMs, bucketMs } = cells;
  const request = { ...selection, fromMs, toMs, bucketMs, buckets: CELLS, minLevel: 'ERROR' } as const;
  return errorStrip(
    cells,
    await session.client.histogram({ nodes: ['*'], ...request }, { signal, budgetMs: COUNT_MS }),
  );
}

export function stripRange({ fromMs, toMs }: { fromMs: number; toMs: number }): StripRange {
  const spanMs = Math.max(CELLS * 1000, toMs - fromMs);
  const bucketMs = CELL_MS.find((widthMs) => spanMs / widthMs <= CELLS) ?? Math.ceil(spanMs / CELLS);
  const endMs = Math.ceil(toMs / bucketMs) * bucketMs;
  const count = Math.min(CELLS, Math.ceil(spanMs / bucketMs));
  return { fromMs: endMs - count * bucketMs, toMs: endMs, bucketMs, count };
}

/** Only what was read is a number: a node that did not respond has none, one that is gone none after its end. */
export function errorStrip(range: StripRange, histogram: ClusterHistogram): ErrorStrip {
  const { fromMs, bucketMs, count } = range;
  const { members, buckets, coverage } = histogram;
  const byNode = new Map<string, NodeCells>();
  let most = 0;
  for (const report of members) {
    const { id, outcome, asOfMs } = report;
    const endMs = outcome === 'ok' ? Number.POSITIVE_INFINITY : (asOfMs ?? Number.NEGATIVE_INFINITY);
    const part = countedOf(report);
    const cells = Array.from({ length: count }, (_, index): number | null => {
      const startMs = fromMs + index * bucketMs;
      const isCounted = part === null || (startMs + bucketMs > part.fromMs && startMs <= part.toMs);
      return isCounted && startMs <= endMs ? 0 : null;
    });
    let errors = 0;
    for (const { startMs, nodes } of buckets) {
      const index = Math.floor((startMs - fromMs) / bucketMs);
      const own = nodes[id] ?? 0;
      if (own === 0 || index < 0 || index >= count) continue;
      cells[index] = (cells[index] ?? 0) + own;
      errors += own;
      most = Math.max(most, cells[index] ?? 0);
    }
    byNode.set(id, { cells, errors });
  }
  return { range, byNode, most, members, ...(coverage && { coverage }) };
}

/** What was counted of a member; `null`: all that was requested. */
function countedOf({ coveredFromMs, coveredToMs }: MemberReport): { fromMs: number; toMs: number } | null {
  if (coveredFromMs === undefined) return null;
  return { fromMs: coveredFromMs ?? Number.POSITIVE_INFINITY, toMs: coveredToMs ?? Number.NEGATIVE_INFINITY };
}

/** With fewer known cells before, it is not known how many errors are usual; and fewer errors are no rise. */
const MIN_BEFORE = 10;
const MIN_RISE = 10;

/** So many times as many as on average before. */
const RISE = 8;

/** Where the errors of each node rose: its first cell far above those before it. */
export function rises({ range, byNode }: ErrorStrip): { node: string; timeMs: number }[] {
  return [...byNode].flatMap(([node, { cells }]) => {
    let known = 0;
    let total = 0;
    for (const [index, count] of cells.entries()) {
      if (count === null) continue;
      if (known >= MIN_BEFORE && count >= Math.max(MIN_RISE, (RISE * total) / known))
        return [{ node, timeMs: range.fromMs + index * range.bucketMs }];
      known++;
      total += count;
    }
    return [];
  });
}

/** The cells of several nodes as one; unknown only where none was read. */
export function sumCells(nodes: readonly NodeCells[]): NodeCells {
  const length = Math.max(0, ...nodes.map(({ cells }) => cells.length));
  return {
    cells: Array.from({ length }, (_, index) => sum(nodes.map(({ cells }) => cells[index] ?? null))),
    errors: nodes.reduce((all, { errors }) => all + errors, 0),
  };
}

/** Fewer, wider cells, where there is no room for all of them: each is made of so many, counted from the end. */
export function widerCells({ cells, errors }: NodeCells, by: number): NodeCells {
  const count = Math.ceil(cells.length / by);
  const wider = Array.from({ length: count }, (_, index) => {
    const end = cells.length - (count - 1 - index) * by;
    return sum(cells.slice(Math.max(0, end - by), end));
  });
  return { cells: wider, errors };
}

/** `3 errors`, or what can be said of what was not read: never "none". */
export function errorsText(cells: NodeCells | undefined): string {
  const isAll = cells?.cells.every((count) => count !== null) ?? false;
  if (cells && cells.errors > 0) return `${isAll ? '' : 'at least '}${formatCounted(cells.errors, 'error')}`;
  return isAll ? 'no errors' : cells?.cells.some((count) => count !== null) ? 'no errors found' : 'errors not counted';
}

function sum(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null);
  return known.length === 0 ? null : known.reduce((all, count) => all + count, 0);
}
