import { toProblem } from '../../state/to-problem.ts';
import { recordKey, type ShownRecord } from '../source/log-source.ts';
import { Attempt } from './attempt.ts';
import { SLICE_MS } from './load-pages.ts';
import type { RowBuffer } from './row-buffer.ts';
import type { WorkspaceDeps } from './workspace-deps.ts';

/** Records shown on each side. */
const CONTEXT_RECORDS = 10;

/** Records requested: with merged nodes some fall on the other side, or are uncertain. */
const REQUESTED_RECORDS = 60;

/** Unfiltered records around one record of a filtered view. */
export class ContextRows {
  readonly #deps: WorkspaceDeps;
  readonly #loading = new Attempt();

  constructor(deps: WorkspaceDeps) {
    this.#deps = deps;
  }

  /** Opens the context, or closes it again. */
  async toggle(key: string): Promise<void> {
    const { keeper, window } = this.#deps;
    const wasOpen = keeper.state.contextKey === key;
    this.close();
    const row = window.buffer.get(key);
    if (wasOpen || row?.kind !== 'record') return;
    const signal = AbortSignal.any([this.#loading.begin(), window.signal]);
    keeper.change({ contextKey: key, focusedKey: key });
    try {
      const [older, newer] = await Promise.all([
        this.#load(row.record, 'older', signal),
        this.#load(row.record, 'newer', signal),
      ]);
      if (signal.aborted) return;
      insertAround(window.buffer, row.record, { older, newer });
      window.publish();
    } catch (error) {
      if (!signal.aborted)
        keeper.change({ contextKey: null, find: { ...keeper.state.find, message: toProblem(error).detail } });
    }
  }

  close(): void {
    const { keeper, window } = this.#deps;
    this.#loading.end();
    if (keeper.state.contextKey === null) return;
    window.buffer.removeIf((row) => row.kind === 'record' && row.isContext === true);
    const { focusedKey, contextKey } = keeper.state;
    // The focus may be on a context row.
    const isGone = focusedKey !== null && !window.buffer.has(focusedKey);
    window.publish({ contextKey: null, ...(isGone && { focusedKey: contextKey }) });
  }

  async #load(record: ShownRecord, direction: 'older' | 'newer', signal: AbortSignal): Promise<ShownRecord[]> {
    const request = { direction, from: { at: record }, limit: REQUESTED_RECORDS, filter: {} };
    const page = await this.#deps.source()?.page(request, { signal, budgetMs: SLICE_MS });
    const others = (page?.records ?? []).filter((other) => recordKey(other) !== recordKey(record));
    if (direction === 'newer') return others.slice(0, CONTEXT_RECORDS);
    return others.filter((other) => isBefore(other, record)).slice(-CONTEXT_RECORDS);
  }
}

/** Records of the same file are always in order; others are compared by time. */
function isBefore(other: ShownRecord, { node, file, atMs }: ShownRecord): boolean {
  if ((other.node === node && other.file === file) || other.atMs === undefined || atMs === undefined) return true;
  return other.atMs < atMs;
}

/** Rows that are loaded already stay; the others are inserted in log order. */
export function insertAround(
  buffer: RowBuffer,
  record: ShownRecord,
  { older, newer }: { older: readonly ShownRecord[]; newer: readonly ShownRecord[] },
): void {
  const after = new Set(newer.map(recordKey));
  let nextKey = recordKey(record);
  for (const candidate of older.toReversed()) {
    const key = recordKey(candidate);
    // Records of the same millisecond may be returned on both sides.
    if (after.has(key)) continue;
    if (!buffer.has(key)) buffer.insertBefore(nextKey, [{ kind: 'record', key, record: candidate, isContext: true }]);
    nextKey = key;
  }
  let previousKey = recordKey(record);
  for (const candidate of newer) {
    const key = recordKey(candidate);
    if (!buffer.has(key)) {
      const following = buffer.rows[buffer.rows.findIndex((row) => row.key === previousKey) + 1];
      buffer.insertBefore(following?.key ?? '', [{ kind: 'record', key, record: candidate, isContext: true }]);
    }
    previousKey = key;
  }
}
