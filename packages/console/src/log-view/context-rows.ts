import { Attempt } from './attempt.ts';
import { failureOf } from './failure-of.ts';
import { SLICE_MS } from './load-pages.ts';
import type { ShownRecord } from './log-source.ts';
import { keyOf } from './record-key.ts';
import type { RowBuffer } from './row-buffer.ts';
import type { WorkspaceParts } from './workspace-parts.ts';

/** Records shown on each side. */
const CONTEXT_RECORDS = 10;

/** Asked for: where nodes are merged by time, some are on the other side or in doubt. */
const ASKED_RECORDS = 60;

/** What stands around a record of a filtered view, between its rows. */
export class ContextRows {
  readonly #parts: WorkspaceParts;
  readonly #loading = new Attempt();

  constructor(parts: WorkspaceParts) {
    this.#parts = parts;
  }

  /** Opens, or closes again. */
  async toggle(key: string): Promise<void> {
    const { keeper, window } = this.#parts;
    const wasOpen = keeper.state.contextOf === key;
    this.close();
    const row = window.buffer.get(key);
    if (wasOpen || row?.kind !== 'record') return;
    const signal = AbortSignal.any([this.#loading.begin(), window.signal]);
    keeper.change({ contextOf: key, focusedKey: key });
    try {
      const [older, newer] = await Promise.all([
        this.#ask(row.record, 'older', signal),
        this.#ask(row.record, 'newer', signal),
      ]);
      if (signal.aborted) return;
      insertAround(window.buffer, row.record, { older, newer });
      window.publish();
    } catch (error) {
      if (!signal.aborted)
        keeper.change({ contextOf: null, find: { ...keeper.state.find, message: failureOf(error).detail } });
    }
  }

  close(): void {
    const { keeper, window } = this.#parts;
    this.#loading.end();
    if (keeper.state.contextOf === null) return;
    window.buffer.removeIf((row) => row.kind === 'record' && row.isContext === true);
    const { focusedKey, contextOf } = keeper.state;
    // The focus may be on one of those that go.
    const isGone = focusedKey !== null && !window.buffer.has(focusedKey);
    window.publish({ contextOf: null, ...(isGone && { focusedKey: contextOf }) });
  }

  async #ask(record: ShownRecord, direction: 'older' | 'newer', signal: AbortSignal): Promise<ShownRecord[]> {
    const request = { direction, from: { at: record }, limit: ASKED_RECORDS, filter: {} };
    const page = await this.#parts.source()?.page(request, { signal, budgetMs: SLICE_MS });
    const others = (page?.records ?? []).filter((other) => keyOf(other) !== keyOf(record));
    if (direction === 'newer') return others.slice(0, CONTEXT_RECORDS);
    return others.filter((other) => isBefore(other, record)).slice(-CONTEXT_RECORDS);
  }
}

/** Of its own file all that are told are; of others their time tells. */
function isBefore(other: ShownRecord, { node, file, atMs }: ShownRecord): boolean {
  if ((other.node === node && other.file === file) || other.atMs === undefined || atMs === undefined) return true;
  return other.atMs < atMs;
}

/** Those that are rows already stay where they are; the others stand between them in the order of the log. */
export function insertAround(
  buffer: RowBuffer,
  record: ShownRecord,
  { older, newer }: { older: readonly ShownRecord[]; newer: readonly ShownRecord[] },
): void {
  const after = new Set(newer.map(keyOf));
  let nextKey = keyOf(record);
  for (const candidate of older.toReversed()) {
    const key = keyOf(candidate);
    // Of what was said in the same millisecond some is told on both sides.
    if (after.has(key)) continue;
    if (!buffer.has(key)) buffer.insertBefore(nextKey, [{ kind: 'record', key, record: candidate, isContext: true }]);
    nextKey = key;
  }
  let previousKey = keyOf(record);
  for (const candidate of newer) {
    const key = keyOf(candidate);
    if (!buffer.has(key)) {
      const following = buffer.rows[buffer.rows.findIndex((row) => row.key === previousKey) + 1];
      buffer.insertBefore(following?.key ?? '', [{ kind: 'record', key, record: candidate, isContext: true }]);
    }
    previousKey = key;
  }
}
