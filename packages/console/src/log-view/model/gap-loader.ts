import { toProblem } from '../../state/to-problem.ts';
import { PAGE_RECORDS, SLICE_MS } from './load-pages.ts';
import type { WorkspaceDeps } from './log-store.ts';

/** Loads the next page of the records of a gap. */
export async function loadGap({ store, source, rowsSignal }: WorkspaceDeps, key: string): Promise<void> {
  const { buffer, filter } = store.state;
  const row = buffer.get(key);
  const from = source();
  if (row?.kind !== 'gap' || row.isLoading || !row.range || !from) return;
  store.dispatch({ type: 'gap-load-started', key });
  const signal = rowsSignal();
  try {
    const request = { direction: 'newer', from: { next: row.range.after }, limit: PAGE_RECORDS, filter } as const;
    const page = await from.page(request, { signal, budgetMs: SLICE_MS });
    if (!signal.aborted) store.dispatch({ type: 'gap-loaded', key, page });
  } catch (error) {
    if (!signal.aborted) store.dispatch({ type: 'gap-load-failed', key, detail: toProblem(error).detail });
  }
}
