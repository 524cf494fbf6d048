import type { Page } from '../source/log-source.ts';
import type { Edge } from './workspace-state.ts';

/** What was scanned in one direction since the log was opened, over all pages. */
export class ScanNotes {
  #scannedBytes = 0;
  #reachedMs: number | null = null;

  /** The first page of other rows. */
  noteFirst(page: Page | null): void {
    this.#reachedMs = null;
    if (page) this.note(page);
  }

  note({ scannedBytes, reachedMs }: Page): void {
    this.#scannedBytes += scannedBytes;
    this.#reachedMs = reachedMs ?? this.#reachedMs;
  }

  /** The end of the rows after a page; without one nothing can be in this direction. */
  edgeAfter(page: Page | null): Edge {
    const isDone = page === null || page.next === null;
    return isDone ? { kind: 'done', scannedBytes: this.#scannedBytes } : { kind: 'more' };
  }

  /** With all that was scanned, not only by the last run. */
  complete(edge: Edge): Edge {
    const scannedBytes = this.#scannedBytes;
    if (edge.kind === 'done') return { ...edge, scannedBytes };
    if (edge.kind !== 'loading' && edge.kind !== 'stopped') return edge;
    return { ...edge, scannedBytes, reachedMs: edge.reachedMs ?? this.#reachedMs };
  }
}
