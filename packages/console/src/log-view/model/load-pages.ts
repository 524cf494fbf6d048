import type { LogSource, Page, PagePosition, RowFilter } from '../source/log-source.ts';
import { toFailure } from './to-failure.ts';
import type { WorkspaceClock } from './workspace-clock.ts';
import type { Edge } from './workspace-state.ts';

export const PAGE_RECORDS = 200;

/** At first on each side of a place: two screens are drawn sooner than four are loaded. */
export const FIRST_RECORDS = 100;

/** One question may take so long: its answer shows how far the scan has come. */
export const SLICE_MS = 2000;

/** A scan that finds too little goes on by itself for so long. */
export const SCAN_MS = 20_000;

export interface PageRun {
  source: LogSource;
  clock: WorkspaceClock;
  filter: RowFilter;
  direction: 'older' | 'newer';
  from: PagePosition;
  /** Records that are enough. */
  wanted: number;
  signal: AbortSignal;
  /** Takes the records; returns how many were new. */
  onPage(page: Page, next: PagePosition | null): number;
  onEdge(edge: Edge): void;
}

/** Asks for pages until there are enough records, nothing is left, or it has taken too long. Silent once the signal fired. */
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
      const { code, detail } = toFailure(error);
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
