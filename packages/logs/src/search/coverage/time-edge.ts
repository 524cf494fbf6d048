import { BLOCK_BYTES, blockAt } from '../../scan/block/blocks.ts';
import type { CancelFlag } from '../../scan/cancel-flag.ts';
import type { ScanFile } from '../../scan/jobs.ts';
import { disorderNear } from '../../scan/tasks/seek-time.ts';
import { noteProblem, type OpenFamily } from '../files/open-family.ts';
import type { OpenFile } from '../files/open-file.ts';
import type { RecordPosition } from '../position.ts';
import type { ScanContext } from '../scan-context.ts';

export interface TimeEdgeOptions {
  scanContext: ScanContext;
  flag: CancelFlag;
  family: OpenFamily;
  /** Which records are meant: those that start before the position, or those that start at or after it. */
  side: 'before' | 'from';
  position: RecordPosition;
  /** A time of one of them, and one of a record on the other side of the position. */
  known?: { insideMs: number; outsideMs: number } | undefined;
}

/**
 * The latest time of the records before a position in a family, or the earliest of those from it on. Records are only
 * roughly in order, so it reads on, block by block, until the rest cannot change the result. On the side where the
 * earliest time is wanted, times are negated: "later" means further into the part that was scanned.
 */
export class TimeEdge {
  /** The latest time seen; `-Infinity`: none yet. */
  seenMs = -Infinity;
  /** Nothing is left to read, or the rest cannot be read without decompressing a whole file. */
  isOver = false;
  readonly #options: TimeEdgeOptions;
  readonly #sign: 1 | -1;
  #file: number;
  /** Before: the end offset of the next read. From: its start offset. */
  #offset: number;
  #boundMs = Infinity;
  #files: Map<OpenFile, ScanFile> = new Map();

  constructor(options: TimeEdgeOptions) {
    const { side, position, known, family } = options;
    this.#options = options;
    this.#sign = side === 'before' ? 1 : -1;
    const isBehindAll = position.file >= family.files.length;
    this.#file = isBehindAll ? family.files.length : position.file;
    this.#offset = isBehindAll ? 0 : position.offset;
    if (known) {
      if (!Number.isNaN(known.insideMs)) this.#note(known.insideMs, known.insideMs);
      this.#limit(known.outsideMs);
    }
  }

  /** No record is later. The exact time of a record if that is known, else a bound. */
  get latestMs(): number {
    return Math.max(
      this.seenMs,
      this.#isInOrder ? this.#boundMs : this.isOver && this.#boundMs === -Infinity ? -Infinity : Infinity,
    );
  }

  /** Reads on for up to `blocks` blocks; what earlier scans know is free. Returns the number of blocks read. */
  async advance(blocks: number): Promise<number> {
    for (;;) {
      const opened = this.#enterFile();
      if (!opened) return 0;
      const { scanContext, flag, family } = this.#options;
      try {
        const file = this.#files.get(opened) ?? (await scanContext.prepare(opened, flag, family.problems));
        this.#files.set(opened, file);
        const read = await this.#readNext(opened, file, blocks);
        if (read > 0 || this.seenMs >= this.latestMs) return read;
      } catch (error) {
        this.isOver = true;
        return noteProblem(family.problems, opened.name, error) ?? 0;
      }
    }
  }

  /** The next file to read; `undefined`: there is none, or it cannot be read without much work. */
  #enterFile(): OpenFile | undefined {
    const { scanContext, family, side } = this.#options;
    for (;;) {
      if (side === 'before' && this.#offset <= 0) this.#moveTo(this.#file - 1, Infinity);
      const opened = family.files[this.#file];
      if (!opened) {
        this.isOver = true;
        this.#boundMs = -Infinity;
        return undefined;
      }
      if (opened.timed && opened.firstMs !== null && side === 'from' && this.#offset === 0)
        this.#note(opened.firstMs, opened.firstMs);
      if (opened.timed && scanContext.isReady(opened)) return opened;
      if (opened.timed) {
        this.isOver = true;
        return undefined;
      }
      // Records without times are in no time range.
      this.#moveTo(this.#file + (side === 'before' ? -1 : 1), side === 'before' ? Infinity : 0);
    }
  }

  async #readNext(opened: OpenFile, file: ScanFile, most: number): Promise<number> {
    const { scanContext, flag, side } = this.#options;
    const { textBytes } = file;
    const index = scanContext.indexFor(opened);
    const isBefore = side === 'before';
    for (;;) {
      const offset = Math.min(this.#offset, textBytes);
      if (!isBefore && offset >= textBytes) {
        this.#moveTo(this.#file + 1, 0);
        return 0;
      }
      const block = blockAt(isBefore ? Math.max(0, offset - 1) : offset);
      const isWhole = isBefore ? offset >= Math.min(textBytes, (block + 1) * BLOCK_BYTES) : offset % BLOCK_BYTES === 0;
      const known = isWhole ? index.get(block)?.all : undefined;
      if (!known) {
        const first = isBefore ? Math.max(0, block - most + 1) : block;
        const end = isBefore ? block + 1 : Math.min(block + most, blockAt(textBytes - 1) + 1);
        const [startBytes, endBytes] = isBefore ? [0, offset] : [offset, textBytes];
        const job = { kind: 'times' as const, file, runs: [first, end], startBytes, endBytes };
        const { minMs, maxMs, summaries } = await scanContext.pool.run(job, flag);
        for (const summary of summaries) index.add(summary);
        scanContext.indexes.trim();
        this.#note(minMs, maxMs);
        this.#offset = isBefore ? first * BLOCK_BYTES : end * BLOCK_BYTES;
        return end - first;
      }
      this.#note(known.minMs, known.maxMs);
      this.#offset = isBefore ? block * BLOCK_BYTES : (block + 1) * BLOCK_BYTES;
      if (this.seenMs >= this.latestMs || this.#offset <= 0) return 0;
    }
  }

  #moveTo(file: number, offset: number): void {
    this.#file = file;
    this.#offset = offset;
  }

  #note(minMs: number, maxMs: number): void {
    if (minMs > maxMs) return;
    this.seenMs = Math.max(this.seenMs, this.#sign === 1 ? maxMs : -minMs);
    this.#limit(this.#sign === 1 ? minMs : maxMs);
  }

  /** What remains to be read can be later than the records read so far only by the usual disorder. */
  #limit(timeMs: number): void {
    if (!Number.isFinite(timeMs)) return;
    const boundMs = this.#sign * timeMs + disorderNear(this.#options.scanContext.zone, timeMs);
    this.#boundMs = Math.min(this.#boundMs, boundMs);
  }

  get #isInOrder(): boolean {
    const { scanContext, family } = this.#options;
    const slackAt = (timeMs: number) => disorderNear(scanContext.zone, timeMs);
    return family.files.every((file) => scanContext.indexFor(file).times(slackAt).isInOrder);
  }
}
