import type { ScanReport } from '../scan/jobs.ts';
import type { FileProblem, SearchEnd } from '../types.ts';

/** What an answer has covered so far; becomes its receipt. */
export class ScanTally {
  readonly #startedMs = performance.now();
  readonly #files = new Set<string>();
  #scannedBytes = 0;
  #skippedBytes = 0;
  #minMs = Infinity;
  #maxMs = -Infinity;

  add(file: string, { scannedBytes, minMs, maxMs }: Omit<ScanReport, 'summaries'>): void {
    this.#files.add(file);
    this.#scannedBytes += scannedBytes;
    this.see(minMs, maxMs);
  }

  skip(file: string, bytes: number): void {
    this.#files.add(file);
    this.#skippedBytes += bytes;
  }

  see(minMs: number, maxMs: number): void {
    if (minMs < this.#minMs) this.#minMs = minMs;
    if (maxMs > this.#maxMs) this.#maxMs = maxMs;
  }

  receipt(reason: SearchEnd['reason'], records: number, problems: FileProblem[]): Omit<SearchEnd, 'type' | 'cursor'> {
    return {
      reason,
      records,
      scannedBytes: this.#scannedBytes,
      skippedBytes: this.#skippedBytes,
      scannedFiles: this.#files.size,
      coveredFromMs: Number.isFinite(this.#minMs) ? this.#minMs : null,
      coveredToMs: Number.isFinite(this.#maxMs) ? this.#maxMs : null,
      problems,
      elapsedMs: Math.round(performance.now() - this.#startedMs),
    };
  }
}
