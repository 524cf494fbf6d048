import { toProblem } from '../../state/to-problem.ts';
import { recordKey, type ShownRecord } from '../source/log-source.ts';
import { Attempt } from './attempt.ts';
import { SLICE_MS } from './load-pages.ts';
import type { WorkspaceDeps } from './log-store.ts';

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
    const { store } = this.#deps;
    const wasOpen = store.state.contextKey === key;
    this.close();
    const row = store.state.buffer.get(key);
    if (wasOpen || row?.kind !== 'record') return;
    const { record } = row;
    const signal = AbortSignal.any([this.#loading.begin(), this.#deps.rowsSignal()]);
    store.dispatch({ type: 'context-opened', key });
    try {
      const [older, newer] = await Promise.all([
        this.#load(record, 'older', signal),
        this.#load(record, 'newer', signal),
      ]);
      if (!signal.aborted) store.dispatch({ type: 'context-loaded', record, older, newer });
    } catch (error) {
      if (!signal.aborted) store.dispatch({ type: 'context-failed', detail: toProblem(error).detail });
    }
  }

  close(): void {
    this.#loading.end();
    this.#deps.store.dispatch({ type: 'context-closed' });
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
