import { BLOCK_BYTES, blockCount } from '../../scan/block/blocks.ts';
import type { ScanReport } from '../../scan/block/scan-file.ts';
import type { FileProblem, SearchEnd } from '../../types.ts';
import type { FilePart } from './file-parts.ts';

/**
 * Read at most in addition to what a query needs, to learn whether records are out of order beside a time range: 8 MiB
 * take about 10 ms, or 50 ms in formats that are parsed line by line.
 */
const MAX_EXTRA_BYTES = 8 * 1024 * 1024;

/** Both ends included. */
export interface TimeRange {
  fromMs: number;
  toMs: number;
}

/** The facts of a closing record, besides its bytes. */
export interface EndFacts {
  reason: SearchEnd['reason'];
  records: number;
  problems: FileProblem[];
  covered: TimeRange | null;
}

/** What was scanned for a response; becomes its closing record. Every byte counts once. */
export class ScanTally {
  readonly #startedMs = performance.now();
  readonly #files = new Set<string>();
  /** Blocks scanned, by file: parts that stop early resume in the middle. */
  readonly #blocks = new Map<string, Uint8Array>();
  #scannedBytes = 0;
  #skippedBytes = 0;
  #unreadBytes = 0;
  #extraBytes = MAX_EXTRA_BYTES;
  readonly #unreadChecks: (() => void)[] = [];
  /** Range of all times seen. */
  minMs = Infinity;
  maxMs = -Infinity;

  add({ opened, file }: Pick<FilePart, 'opened' | 'file'>, { blocks, minMs, maxMs }: ScanReport): void {
    this.#files.add(opened.name);
    const known = this.#blocks.get(opened.name) ?? new Uint8Array(blockCount(file.textBytes));
    this.#blocks.set(opened.name, known);
    for (const block of blocks) {
      if (known[block] === 0) this.#scannedBytes += blockBytes(block, file.textBytes);
      known[block] = 1;
    }
    this.see(minMs, maxMs);
  }

  /** Blocks known to contain no match. */
  skip({ opened, file }: Pick<FilePart, 'opened' | 'file'>, blocks: readonly number[]): void {
    if (blocks.length > 0) this.#files.add(opened.name);
    for (const block of blocks) this.#skippedBytes += blockBytes(block, file.textBytes);
  }

  /** Blocks that are not part of a sample. */
  leaveOut({ file }: Pick<FilePart, 'file'>, blocks: readonly number[]): void {
    for (const block of blocks) this.#unreadBytes += blockBytes(block, file.textBytes);
  }

  /** Bytes that may still be read in addition to what the query needs. */
  get extraBytes(): number {
    return this.#extraBytes;
  }

  /** Whether these may be read in addition. */
  takeExtra(bytes: number): boolean {
    if (bytes > this.#extraBytes) return false;
    this.#extraBytes -= bytes;
    return true;
  }

  /** Bytes skipped only because of the times around them. `check` is called at the end. */
  leaveUnread(bytes: number, check?: () => void): void {
    this.#unreadBytes += bytes;
    if (check) this.#unreadChecks.push(check);
  }

  /** Lets those that skipped bytes verify, by what is known now, that it was right. */
  checkUnread(): void {
    for (const check of this.#unreadChecks) check();
  }

  see(minMs: number, maxMs: number): void {
    if (minMs < this.minMs) this.minMs = minMs;
    if (maxMs > this.maxMs) this.maxMs = maxMs;
  }

  end({ reason, records, problems, covered }: EndFacts): Omit<SearchEnd, 'type' | 'cursor'> {
    return {
      reason,
      records,
      scannedBytes: this.#scannedBytes,
      skippedBytes: this.#skippedBytes,
      unreadBytes: this.#unreadBytes,
      scannedFiles: this.#files.size,
      coveredFromMs: covered?.fromMs ?? null,
      coveredToMs: covered?.toMs ?? null,
      problems,
      elapsedMs: Math.round(performance.now() - this.#startedMs),
    };
  }
}

function blockBytes(block: number, textBytes: number): number {
  return Math.min(BLOCK_BYTES, textBytes - block * BLOCK_BYTES);
}
