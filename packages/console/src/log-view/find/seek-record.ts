import { PAGE_RECORDS, SCAN_MS, SLICE_MS } from '../model/load-pages.ts';
import type { WorkspaceDeps } from '../model/log-store.ts';
import type { Row } from '../model/workspace-state.ts';
import { type PagePosition, type RowFilter, recordKey, type ShownRecord } from '../source/log-source.ts';

export interface SeekRequest {
  direction: 'older' | 'newer';
  isWanted(record: ShownRecord): boolean;
  /** Matches the target records, or more if one filter cannot express them. */
  filter: RowFilter;
  /** Whether the filter matches exactly the target records. */
  isExact: boolean;
}

export type SeekResult = { record: ShownRecord } | { record: null; isStopped: boolean; scannedBytes: number };

/** The next target record from the focused one: among the rows, then in the log. */
export async function seekRecord(deps: WorkspaceDeps, sought: SeekRequest, signal: AbortSignal): Promise<SeekResult> {
  const { rows, top, buffer } = deps.store.state;
  const { found, reached, isAtGap } = seekInRows(rows, startIndex(deps, sought.direction), sought);
  if (found) return { record: found };
  if (sought.direction === 'older' && top.kind === 'done' && !isAtGap && rows.length > 0)
    return { record: null, isStopped: false, scannedBytes: top.scannedBytes };
  const last = reached ?? (sought.direction === 'older' ? buffer.first : buffer.last);
  return seekInLog(deps, sought, {
    from: last ? { next: last } : sought.direction === 'older' ? 'end' : 'start',
    signal,
  });
}

/** The row the search starts after; without a focus, the row in view is included. */
function startIndex({ store }: WorkspaceDeps, direction: 'older' | 'newer'): number {
  const { rows, focusedKey, anchor } = store.state;
  const step = direction === 'older' ? -1 : 1;
  if (focusedKey !== null) {
    const focused = rows.findIndex(({ key }) => key === focusedKey);
    if (focused >= 0) return focused + step;
  }
  const inView = anchor ? rows.findIndex(({ key }) => key === anchor.key) : -1;
  if (inView >= 0) return inView;
  return direction === 'older' ? rows.length - 1 : 0;
}

function seekInRows(rows: readonly Row[], start: number, { direction, isWanted }: SeekRequest) {
  const step = direction === 'older' ? -1 : 1;
  const before = rows[start - step];
  let reached = before?.kind === 'record' ? before.record : undefined;
  for (let index = start; index >= 0 && index < rows.length; index += step) {
    const row = rows[index];
    // A gap may contain a target record: search the log instead.
    if (row?.kind === 'gap' && row.canLoad) return { found: undefined, reached, isAtGap: true };
    if (row?.kind !== 'record' || row.isContext) continue;
    if (isWanted(row.record)) return { found: row.record, reached, isAtGap: false };
    reached = row.record;
  }
  return { found: undefined, reached, isAtGap: false };
}

async function seekInLog(
  deps: WorkspaceDeps,
  { direction, isWanted, filter, isExact }: SeekRequest,
  { from, signal }: { from: PagePosition; signal: AbortSignal },
): Promise<SeekResult> {
  const { clock } = deps;
  const source = deps.source();
  const sinceMs = clock.now();
  const passed = new Set(passedKeys(deps, from, direction));
  let [position, scannedBytes]: [PagePosition, number] = [from, 0];
  while (source) {
    const limit = isExact ? 1 : PAGE_RECORDS;
    const page = await source.page({ direction, from: position, limit, filter }, { signal, budgetMs: SLICE_MS });
    signal.throwIfAborted();
    scannedBytes += page.scannedBytes;
    const inOrder = direction === 'older' ? page.records.toReversed() : page.records;
    const found = inOrder.find((record) => !passed.has(recordKey(record)) && (isExact || isWanted(record)));
    if (found) return { record: found };
    if (page.next === null) return { record: null, isStopped: false, scannedBytes };
    if (clock.now() - sinceMs >= SCAN_MS) return { record: null, isStopped: true, scannedBytes };
    position = { page: page.next };
  }
  return { record: null, isStopped: deps.rowsSignal().aborted, scannedBytes };
}

/** Rows on the other side: records of the same millisecond may be returned again. */
function passedKeys({ store }: WorkspaceDeps, from: PagePosition, direction: 'older' | 'newer'): string[] {
  if (typeof from === 'string' || !('next' in from)) return [];
  const { rows } = store.state;
  const index = rows.findIndex(({ key }) => key === recordKey(from.next));
  return (direction === 'older' ? rows.slice(index) : rows.slice(0, index + 1)).map(({ key }) => key);
}
