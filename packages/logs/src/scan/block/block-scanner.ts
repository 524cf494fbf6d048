import { type ScanKernel, UNSURE } from '../../kernel/scan-kernel.ts';
import { type Format, type LineHead, MAX_HEAD_BYTES } from '../../parse/format.ts';
import { trimLineEnd } from '../../parse/formats/define-format.ts';
import { BLOCK_BYTES, type BlockCheck, blockAt, insertFirst, isHole, type RecordTable, splitOffset } from './blocks.ts';
import type { FileText } from './file-text.ts';

const NEWLINE = 10;

/** Read beyond a block initially: most last records end there, and the head of every line is within reach. */
const LOOKAHEAD_BYTES = 8192;

/** Most blocks are followed by a record that starts within this much. */
const NEAR_BYTES = 4096;

/** Read of a text at first to find a line that starts a record: most do. */
const FIRST_HEAD_BYTES = 512;

/** More than a block has lines. */
const MOST_UNSURE = 2 ** 30;

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
  readonly #head: LineHead = { timeMs: Number.NaN, rank: 0 };
  #block = 0;

  constructor(kernel: ScanKernel, text: FileText, { format }: { format: Format }) {
    this.#kernel = kernel;
    this.#scrubbed = text;
    this.#text = text;
    this.#format = format;
  }

  /** `unscrubbed`: with secrets, to decide whether the block must be scanned; `scrub` must follow. */
  load(block: number, { unscrubbed = false } = {}): void {
    this.#text = (unscrubbed && this.#scrubbed.unscrubbed) || this.#scrubbed;
    const start = block * BLOCK_BYTES;
    const { text } = this.#kernel;
    this.#block = block;
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

  /**
   * Masks secrets in the loaded text. Must be called before any of it is returned, or compared with a query. Returns
   * whether records may differ now.
   */
  scrub(): boolean {
    if (this.isScrubbed) return false;
    const loaded = this.bytes.length;
    const hash = this.#kernel.checksum(0, loaded);
    this.load(this.#block);
    this.loadUpTo(this.toOffset(loaded));
    return this.bytes.length !== loaded || this.#kernel.checksum(0, loaded) !== hash;
  }

  /** The file offset of a position in the loaded text. */
  toOffset(position: number): number {
    return this.#block * BLOCK_BYTES - 1 + position;
  }

  toPosition(offset: number): number {
    return offset - this.#block * BLOCK_BYTES + 1;
  }

  /** Whether a record that starts in the block may be of level ERROR or above, without looking at any. */
  mayHaveErrors(): boolean {
    return !this.#format.hasLevelColumn || this.#kernel.mayHaveErrors(this.bytes.length);
  }

  /** Whether the block, and its last record, are followed by more: they will not change any more. */
  isComplete(recordsEnd: number): boolean {
    // A line that extends beyond the block may still turn out to start a record.
    const isHeadWhole =
      this.bytes.length >= this.blockEnd + MAX_HEAD_BYTES || this.bytes.includes(NEWLINE, this.blockEnd - 1);
    return isHeadWhole && this.toOffset(recordsEnd) < this.#text.sizeBytes;
  }

  /** The checksum of a complete block, as loaded. */
  check(): BlockCheck {
    const bytes = this.#checkedBytes;
    return { bytes, hash: this.#kernel.checksum(0, bytes), scrubbed: this.isScrubbed };
  }

  /** The bytes that decide which records start in the block. */
  get #checkedBytes(): number {
    const newline = this.bytes.indexOf(NEWLINE, this.blockEnd - 1);
    const mostEnd = this.blockEnd + MAX_HEAD_BYTES;
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
    const end = this.recordsEnd();
    const first = this.#lineStart(1, this.blockEnd);
    const table = this.#tableFrom(first);
    const isHeadless = table.count === 0 || (this.isFirst && table.starts[0] !== this.#textStart);
    const start = isHeadless ? this.#headlessStart(first) : undefined;
    if (start !== undefined) insertFirst(table, start, { continues: !this.isFirst });
    table.end = end;
    return table;
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
    if (this.isFirst) return this.headAt(this.#textStart)?.timeMs ?? Number.NaN;
    const found = this.#firstHead(this.#lineStart(1, this.blockEnd), this.blockEnd) >= 0;
    return found ? this.#head.timeMs : Number.NaN;
  }

  /** Where the last record that starts in the block ends: at the first one of the next block. */
  recordsEnd(): number {
    const { blockEnd } = this;
    if (this.#atTextEnd && this.bytes.length === blockEnd) return blockEnd;
    const near = this.#firstHead(this.#lineStart(blockEnd, this.bytes.length), blockEnd + NEAR_BYTES);
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
    const headEnd = line + MAX_HEAD_BYTES;
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
   * The first line from `line` on, itself a line start, that starts a record before `to`; -1: none. Its head is left in
   * `#head`. The kernel reads it, which overwrites its table of records, and the format what the kernel is not sure of.
   */
  #firstHead(line: number, to: number): number {
    const { positions, times, ranks } = this.#kernel;
    const { program } = this.#format;
    this.#kernel.setProgram(program);
    let at = line;
    for (let step = FIRST_HEAD_BYTES; at < Math.min(to, this.bytes.length); step *= 2) {
      const limit = this.bytes.length;
      const stop = Math.min(to, limit, at + step);
      const found = this.#kernel.heads(at, stop, { limit, known: 0, most: MOST_UNSURE });
      for (let index = 0; index < found; index++) {
        const start = positions[index] ?? 0;
        if (ranks[index] !== UNSURE) {
          this.#head.timeMs = times[index] ?? Number.NaN;
          this.#head.rank = ranks[index] ?? 0;
          return start;
        }
        if (!this.headAt(start)) continue;
        const hasLearned = program?.learn(this.bytes, start, this.#textEnd(start));
        if (hasLearned) this.#kernel.setProgram(program, { hasLearned });
        return start;
      }
      at = this.#lineStart(stop, this.bytes.length);
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

  /** The records with heads from a line start on. Without where the last one ends. */
  #tableFrom(first: number): RecordTable {
    const { positions: starts, times, ranks, reached } = this.#kernel;
    const { program } = this.#format;
    this.#kernel.setProgram(program);
    let count = 0;
    // Of how many lines the kernel may be unsure before something is learned from the last one.
    let most = program ? 1 : Infinity;
    for (let line = first; line < this.blockEnd; line = reached[0] ?? this.blockEnd) {
      const limit = this.bytes.length;
      const found = this.#kernel.heads(line, this.blockEnd, { limit, known: count, most: Math.min(most, MOST_UNSURE) });
      const stop = reached[0];
      program?.addCredit(found - count);
      const { count: next, unsure } = reached[1] === 0 ? { count: found, unsure: 0 } : this.#readUnsure(count, found);
      count = next;
      const hasLearned =
        program !== undefined && unsure > 0 && program.learn(this.bytes, unsure, this.#textEnd(unsure));
      if (hasLearned) this.#kernel.setProgram(program, { hasLearned });
      most = hasLearned ? 1 : most * 2;
      reached[0] = stop ?? this.blockEnd;
    }
    return { count, starts, times, ranks, end: 0, firstContinues: false };
  }

  /** Reads the lines from an index on of which the kernel was not sure, and leaves out those that start no record. */
  #readUnsure(from: number, to: number): { count: number; unsure: number } {
    const { positions: starts, times, ranks } = this.#kernel;
    let count = from;
    let unsure = 0;
    for (let index = from; index < to; index++) {
      const line = starts[index] ?? 0;
      let timeMs = times[index] ?? 0;
      let rank = ranks[index] ?? 0;
      if (rank === UNSURE) {
        const head = this.headAt(line, timeMs || undefined);
        if (!head) continue;
        ({ timeMs, rank } = head);
        unsure = line;
      }
      starts[count] = line;
      times[count] = timeMs;
      ranks[count++] = rank;
    }
    return { count, unsure };
  }

  /** The end of a line's text, without CR and LF, as far as it is read for its head. */
  #textEnd(line: number): number {
    const end = Math.min(this.#lineStart(line + 1, this.bytes.length), line + MAX_HEAD_BYTES);
    return trimLineEnd(this.bytes, line, end);
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
