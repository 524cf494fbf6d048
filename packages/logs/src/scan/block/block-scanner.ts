import type { ScanKernel } from '../../kernel/scan-kernel.ts';
import type { Format, LineHead } from '../../parse/format.ts';
import { toEpochTimes, type Zone } from '../../parse/zone.ts';
import {
  BLOCK_BYTES,
  type BlockCheck,
  blockAt,
  HEAD_SCAN_BYTES,
  headScanBytes,
  insertFirst,
  isHole,
  type LevelRecords,
  type RecordTable,
  splitOffset,
  TableRoom,
} from './blocks.ts';
import type { FileText } from './file-text.ts';

const NEWLINE = 10;

/** Read beyond a block initially: most last records end there, and the head of every line is within reach. */
const LOOKAHEAD_BYTES = 2 * HEAD_SCAN_BYTES;

/** Loads blocks of one file, one at a time, and finds the records that start in them. */
export class BlockScanner {
  /** The loaded text: one byte before the block, the block, and some of what follows. */
  bytes: Buffer = Buffer.alloc(0);
  /** End of the block's own bytes within it. They start at 1. */
  blockEnd = 1;
  readonly #kernel: ScanKernel;
  readonly #scrubbed: FileText;
  /** The source of the loaded text. */
  #text: FileText;
  readonly #format: Format;
  readonly #zone: Zone;
  readonly #headScanBytes: number;
  readonly #head: LineHead = { timeMs: Number.NaN, rank: 0 };
  /** Made when it is needed: it takes memory. */
  #lineTable: LineTable | undefined;
  #block = 0;
  /** The checksum of the first bytes of the loaded text, if it is known. */
  #hashed: { bytes: number; hash: number } | undefined;

  constructor(kernel: ScanKernel, text: FileText, { format, zone }: { format: Format; zone: Zone }) {
    this.#kernel = kernel;
    this.#scrubbed = text;
    this.#text = text;
    this.#format = format;
    this.#headScanBytes = headScanBytes(format.name);
    this.#zone = zone;
  }

  /** `unscrubbed`: with secrets, to decide whether the block must be scanned; `scrub` must follow. */
  load(block: number, { unscrubbed = false } = {}): void {
    this.#text = (unscrubbed && this.#scrubbed.unscrubbed) || this.#scrubbed;
    const start = block * BLOCK_BYTES;
    const { text } = this.#kernel;
    this.#block = block;
    this.#hashed = undefined;
    const end = Math.min(start + BLOCK_BYTES + LOOKAHEAD_BYTES, this.#text.sizeBytes);
    // Nothing precedes the first block, as if a line had ended there.
    if (block === 0) text[0] = NEWLINE;
    const from = block === 0 ? 0 : start - 1;
    const got = this.#text.read(text, block === 0 ? 1 : 0, from, end - from);
    const loaded = got + (block === 0 ? 1 : 0);
    this.bytes = text.subarray(0, loaded);
    this.blockEnd = Math.min(1 + BLOCK_BYTES, loaded);
  }

  /** Whether the text begins in this block. */
  get isFirst(): boolean {
    return this.#block === blockAt(this.#scrubbed.start ?? 0);
  }

  /** Where the text begins in its first block. */
  get #textStart(): number {
    return this.toPosition(this.#scrubbed.start ?? 0);
  }

  /** Whether secrets are masked in the loaded text, if any are at all. */
  get isScrubbed(): boolean {
    return this.#text === this.#scrubbed;
  }

  /** Masks secrets in the loaded text. Must be called before any of it is returned, or compared with a query. */
  scrub(): void {
    if (!this.isScrubbed) this.load(this.#block);
  }

  /** The file offset of a position in the loaded text. */
  toOffset(position: number): number {
    return this.#block * BLOCK_BYTES - 1 + position;
  }

  toPosition(offset: number): number {
    return offset - this.#block * BLOCK_BYTES + 1;
  }

  /** Whether the block, and its last record, are followed by more: they will not change any more. */
  isComplete(recordsEnd: number): boolean {
    // A line that extends beyond the block may still turn out to start a record.
    const isHeadWhole =
      this.bytes.length >= this.blockEnd + this.#headScanBytes || this.bytes.includes(NEWLINE, this.blockEnd - 1);
    return isHeadWhole && this.toOffset(recordsEnd) < this.#text.sizeBytes;
  }

  /** The checksum of a complete block, as loaded. */
  check(): BlockCheck {
    const bytes = this.#checkedBytes;
    const hash = this.#hashed?.bytes === bytes ? this.#hashed.hash : this.#kernel.checksum(0, bytes);
    return { bytes, hash, scrubbed: this.isScrubbed };
  }

  /** The bytes that decide which records start in the block. */
  get #checkedBytes(): number {
    const newline = this.bytes.indexOf(NEWLINE, this.blockEnd - 1);
    const mostEnd = this.blockEnd + this.#headScanBytes;
    return Math.min(newline < 0 ? mostEnd : newline + 1, mostEnd);
  }

  /** Whether the block still has this checksum. Loads it. */
  isUnchanged(block: number, { bytes, hash, scrubbed }: BlockCheck): boolean {
    const endBytes = block * BLOCK_BYTES - 1 + bytes;
    if (endBytes > this.#scrubbed.sizeBytes) return false;
    this.load(block, { unscrubbed: !scrubbed });
    this.loadUpTo(endBytes);
    return this.bytes.length >= bytes && this.#kernel.checksum(0, bytes) === hash;
  }

  /** All records that start in the block. An incomplete last block may have none. */
  records(): RecordTable {
    // Before the table: both use the results of the kernel.
    const end = this.recordsEnd();
    const first = this.#lineStart(1, this.blockEnd);
    const table = this.#format.name === 'contract' ? this.#nativeTable(first) : this.#lineTableFrom(first);
    const isHeadless = table.count === 0 || (this.isFirst && table.starts[0] !== this.#textStart);
    const start = isHeadless ? this.#headlessStart(first) : undefined;
    if (start !== undefined) insertFirst(table, start, { continues: !this.isFirst });
    table.end = end;
    return table;
  }

  /** Records of the block with at least this level, found by the kernel alone. */
  recordsAtLeast(rank: number): LevelRecords {
    const { positions, times, ranks } = this.#kernel;
    const limit = this.bytes.length;
    const bytes = Math.min(this.#checkedBytes, limit);
    const count = this.#kernel.headsAtLeast(rank, { to: this.blockEnd, limit, hashTo: bytes });
    this.#hashed = { bytes, hash: this.#kernel.blockChecksum };
    toEpochTimes(this.#zone, times, count);
    return {
      starts: [...positions.subarray(0, count)],
      times: [...times.subarray(0, count)],
      ranks: [...ranks.subarray(0, count)],
      end: this.recordsEnd(),
    };
  }

  /**
   * Where the first record starting in the block starts, and whether it is a later part of a longer one. `undefined` if
   * there is none: all of the block belongs to the record before it.
   */
  firstRecord(): { start: number; continues: boolean } | undefined {
    if (this.isFirst) return { start: this.#textStart, continues: false };
    const line = this.#lineStart(1, this.blockEnd);
    const head = this.#firstHead(line, this.blockEnd);
    if (head >= 0) return { start: head, continues: false };
    const start = this.#headlessStart(line);
    return start === undefined ? undefined : { start, continues: true };
  }

  /** The time of the first record starting in the block; `NaN` if there is none. */
  firstTime(): number {
    const line = this.isFirst ? this.#textStart : this.#lineStart(1, this.blockEnd);
    const { times } = this.#kernel;
    if (line < this.blockEnd && this.#isPlainHead(line)) {
      toEpochTimes(this.#zone, times, 1);
      return times[0] ?? Number.NaN;
    }
    const first = this.firstRecord();
    return (first && this.headAt(first.start)?.timeMs) ?? Number.NaN;
  }

  /** Where the last record that starts in the block ends: at the first one of the next block. */
  recordsEnd(): number {
    const { blockEnd } = this;
    if (this.#atTextEnd && this.bytes.length === blockEnd) return blockEnd;
    const near = this.#firstHead(this.#lineStart(blockEnd, this.bytes.length), blockEnd + HEAD_SCAN_BYTES);
    if (near >= 0) return near;
    this.loadUpTo((this.#block + 2) * BLOCK_BYTES + LOOKAHEAD_BYTES);
    const nextEnd = Math.min(blockEnd + BLOCK_BYTES, this.bytes.length);
    const line = this.#lineStart(blockEnd, nextEnd);
    const head = this.#firstHead(line, nextEnd);
    return head >= 0 ? head : (this.#splitAt(blockEnd, nextEnd, line) ?? nextEnd);
  }

  /** The head of the line, if it starts a record. Its end is searched unless given. */
  headAt(line: number, lineEnd = this.#lineStart(line + 1, this.bytes.length)): LineHead | undefined {
    // A part of a line longer than a block is not a head, whatever it looks like.
    if (this.bytes[line - 1] !== NEWLINE) return undefined;
    const headEnd = line + this.#headScanBytes;
    if (lineEnd === this.bytes.length && lineEnd < headEnd && !this.#atTextEnd) {
      this.loadUpTo(this.toOffset(headEnd));
      return this.headAt(line);
    }
    return this.#format.readHead(this.bytes, line, Math.min(lineEnd, headEnd), this.#head) ? this.#head : undefined;
  }

  /** The record around a position at or after `first`, itself a record start. */
  recordAround(position: number, first: number): { start: number; head: LineHead | undefined } {
    let line = this.bytes.lastIndexOf(NEWLINE, position - 1) + 1;
    while (line > first) {
      const head = this.headAt(line);
      if (head) return { start: line, head };
      line--;
      while (line > first && this.bytes[line - 1] === NEWLINE) line--;
      line = Math.max(first, this.bytes.lastIndexOf(NEWLINE, line - 1) + 1);
    }
    return { start: first, head: this.headAt(first) };
  }

  /** Where the record around `position` ends, at most `end`. */
  recordEnd(position: number, end: number): number {
    const head = this.#firstHead(this.#lineStart(position + 1, end), end);
    return head < 0 ? end : head;
  }

  get #atTextEnd(): boolean {
    return this.toOffset(this.bytes.length) >= this.#text.sizeBytes;
  }

  /** The first line start in `[from, to)`, or `to`. */
  #lineStart(from: number, to: number): number {
    const newline = this.bytes.indexOf(NEWLINE, from - 1);
    return newline < 0 || newline + 1 > to ? to : newline + 1;
  }

  /**
   * Whether the kernel finds that this line starts a record, and leaves its time: as `headAt`, but nothing of it has to be
   * compiled before it is fast. If not, it may still start one.
   */
  #isPlainHead(line: number): boolean {
    return (
      this.#format.name === 'contract' &&
      this.bytes[line - 1] === NEWLINE &&
      line + this.#headScanBytes <= this.bytes.length &&
      this.#kernel.heads(line, line + 1, this.bytes.length) > 0
    );
  }

  /**
   * The first line from `line` on, itself a line start, that starts a record before `to`; -1: none. Overwrites the results
   * of the kernel.
   */
  #firstHead(line: number, to: number): number {
    const stop = Math.min(to, this.bytes.length);
    let at = line;
    while (at < stop) {
      // Empty lines start no record; a hole is read as many.
      while (at < stop && this.bytes[at] === NEWLINE) at++;
      if (at < stop && (this.#isPlainHead(at) || this.headAt(at))) return at;
      at = this.#lineStart(at + 1, stop);
    }
    return -1;
  }

  /** Loads more of what follows the block. */
  loadUpTo(offset: number): void {
    const { text } = this.#kernel;
    const loaded = this.bytes.length;
    const end = Math.min(offset, this.#text.sizeBytes);
    const more = end - this.toOffset(loaded);
    if (more <= 0) return;
    const got = this.#text.read(text, loaded, this.toOffset(loaded), more);
    this.bytes = text.subarray(0, loaded + got);
  }

  #nativeTable(first: number): RecordTable {
    const { positions: starts, times, ranks } = this.#kernel;
    const count = first < this.blockEnd ? this.#kernel.heads(first, this.blockEnd, this.bytes.length) : 0;
    toEpochTimes(this.#zone, times, count);
    return { count, starts, times, ranks, end: 0, firstContinues: false };
  }

  #lineTableFrom(first: number): RecordTable {
    this.#lineTable ??= new LineTable(this.#kernel, (line, end) => this.headAt(line, end));
    return this.#lineTable.fill(first, this.blockEnd);
  }

  /** Where the first record of a block without a head starts: for the first of the text, at its first byte. */
  #headlessStart(firstLine: number): number | undefined {
    return this.isFirst ? this.#textStart : this.#splitAt(1, this.blockEnd, firstLine);
  }

  /** Where a record is split in the headless block `[start, end)`; `undefined` in an incomplete last one. */
  #splitAt(start: number, end: number, firstLine: number): number | undefined {
    if (end - start < BLOCK_BYTES || isHole(this.bytes, start, end)) return undefined;
    return start + splitOffset(this.bytes.subarray(start, end), firstLine - start);
  }
}

/** The records of a block in a format whose lines are looked at one by one. */
class LineTable {
  readonly #kernel: ScanKernel;
  readonly #headAt: (line: number, lineEnd: number | undefined) => LineHead | undefined;
  readonly #room = new TableRoom();

  /** `headAt`: the head of a line, if it starts a record. */
  constructor(kernel: ScanKernel, headAt: (line: number, lineEnd: number | undefined) => LineHead | undefined) {
    this.#kernel = kernel;
    this.#headAt = headAt;
  }

  /** Those that start in `[first, end)`, `first` being a line start. Without where the last one ends. */
  fill(first: number, end: number): RecordTable {
    const room = this.#room;
    let count = 0;
    const add = (line: number, lineEnd?: number) => {
      // An empty line starts no record in any format; a hole is read as many.
      const head = lineEnd === line + 1 ? undefined : this.#headAt(line, lineEnd);
      if (!head) return;
      room.ensure(count + 1);
      room.starts[count] = line;
      room.times[count] = head.timeMs;
      room.ranks[count] = head.rank;
      count++;
    };
    const lines = this.#kernel.lineStarts(first, end);
    let line = first;
    for (let index = 0; index <= lines && line < end; index++) {
      const next = index < lines ? this.#kernel.lines[index] : undefined;
      add(line, next);
      line = next ?? end;
    }
    return { count, starts: room.starts, times: room.times, ranks: room.ranks, end: 0, firstContinues: false };
  }
}
