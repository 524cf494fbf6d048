import { toProblem } from '../../state/to-problem.ts';
import type { LogSource, Page, PagePosition, RowFilter } from '../source/log-source.ts';
import type { WorkspaceClock } from './workspace-clock.ts';
import type { Edge } from './workspace-state.ts';

export const PAGE_RECORDS = 200;

/** First request on each side: two screens are drawn sooner than four are loaded. */
export const FIRST_RECORDS = 100;

/** Time budget of one request: its response shows the progress of the scan. */
export const SLICE_MS = 2000;

/** A scan that finds too little continues for this long before it stops. */
export const SCAN_MS = 20_000;

interface PageRun {
  source: LogSource;
  clock: WorkspaceClock;
  filter: RowFilter;
  direction: 'older' | 'newer';
  from: PagePosition;
  /** Records wanted. */
  wanted: number;
  signal: AbortSignal;
  /** Adds the records; returns how many were new. */
  onPage(page: Page, next: PagePosition | null): number;
  onEdge(edge: Edge): void;
}

/** Requests pages until there are enough records, the log ends, or time is up. Does nothing after the signal fires. */
export async function loadPages({ source, clock, filter, direction, from, wanted, signal, onPage, onEdge }: PageRun) {
  const sinceMs = clock.now();
  let [found, scannedBytes] = [0, 0];
  let reachedMs: number | null = null;
  let position = from;
  for (;;) {
    onEdge({ kind: 'loading', sinceMs, scannedBytes, reachedMs });
    let page: Page;
    try {
      const request = { direction, from: position, limit: PAGE_RECORDS, filter };
      page = await source.page(request, { signal, budgetMs: SLICE_MS });
    } catch (error) {
      const { code, detail } = toProblem(error);
      if (!signal.aborted) onEdge({ kind: 'failed', code, detail });
      return;
    }
    if (signal.aborted) return;
    const next = page.next === null ? null : { page: page.next };
    scannedBytes += page.scannedBytes;
    reachedMs = page.reachedMs ?? reachedMs;
    found += onPage(page, next);
    if (next === null) return onEdge({ kind: 'done', scannedBytes });
    if (found >= wanted) return onEdge({ kind: 'more' });
    if (clock.now() - sinceMs >= SCAN_MS) return onEdge({ kind: 'stopped', scannedBytes, reachedMs });
    position = next;
  }
}
