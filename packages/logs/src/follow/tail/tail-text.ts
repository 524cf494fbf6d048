import { type FileMark, HEAD_BYTES } from '../../cursor/cursor.ts';
import { markFile } from '../../cursor/file-mark.ts';
import { countNuls } from '../../file/read-start.ts';
import type { Format } from '../../parse/format.ts';
import { ScrubFeed } from '../../scrub/scrub-feed.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { CursorMaker } from '../ring/cursor-maker.ts';
import { type EntrySource, RecordEntry, type SourceRef } from '../ring/ring-entry.ts';
import { type AssemblerTimes, IDLE_MS, type Piece, RecordAssembler } from './record-assembler.ts';

export interface TailTextOptions extends AssemblerTimes {
  name: string;
  /** Where the first byte to come stands. */
  offset: number;
  /** What is known of the text's first bytes; the rest of them is taken from what comes. */
  head: Buffer;
  /** Where they stand: behind a hole, if the file starts with one. */
  headFrom?: number;
  format: Format;
  /** What masks secrets at the moment. */
  scrubber(): Scrubber | undefined;
  /** What stands before the first byte to come, as it is: a secret may have begun there. */
  before?: Buffer;
}

/**
 * The text of one file as records: what a plain file and an unpacked archive have in common. It is given as it is and
 * told with secrets masked; what may be the beginning of one is held back like a line without end.
 */
export class TailText implements EntrySource {
  readonly #assembler: RecordAssembler;
  readonly #feed: ScrubFeed;
  readonly #idleMs: number;
  /** When something was held back by the feed. */
  #heldMs = 0;
  #head: Buffer;
  #headFrom: number;
  #name: string;
  #mark: FileMark | undefined;
  #ref: SourceRef | undefined;
  /** Of the first byte that the feed has not given yet. */
  #settled: number;
  /** The record that what follows may continue. */
  #first: RecordEntry | undefined;
  /** Of its first record; `undefined` until there is one with a time, or where the text was not read from its start. */
  firstTimeMs: number | undefined;

  constructor({ name, offset, head, headFrom = 0, format, scrubber, before, ...times }: TailTextOptions) {
    this.#name = name;
    this.#head = head.subarray(0, HEAD_BYTES);
    this.#headFrom = headFrom;
    this.#settled = offset;
    this.#feed = new ScrubFeed(scrubber, before);
    this.#idleMs = times.idleMs ?? IDLE_MS;
    this.#assembler = new RecordAssembler(format, offset, { ...times, continues: offset > headFrom });
  }

  get name(): string {
    return this.#name;
  }

  /** A file is renamed while it is read. */
  set name(name: string) {
    this.#name = name;
    this.#ref = undefined;
  }

  get ref(): SourceRef {
    this.#ref ??= { name: this.#name, cursors: new CursorMaker(this.mark, this.#name) };
    return this.#ref;
  }

  get head(): Buffer {
    return this.#head;
  }

  /** Where the text begins: behind a hole, if the file starts with one. */
  get start(): number {
    return this.#headFrom;
  }

  /** Nothing of it was read yet. */
  get isUnread(): boolean {
    return this.#head.length === 0 && this.position === this.#headFrom;
  }

  /** Nothing of it was emitted yet. */
  get isUnemitted(): boolean {
    return this.emittedOffset <= this.#headFrom;
  }

  /** Passes over the hole that the file begins with. */
  skipTo(start: number): void {
    this.#assembler.skip(start - this.#settled);
    this.#settled = start;
    this.#headFrom = start;
  }

  get mark(): FileMark {
    this.#mark ??= markFile(this.#head);
    return this.#mark;
  }

  get format(): Format {
    return this.#assembler.format;
  }

  set format(format: Format) {
    this.#assembler.format = format;
  }

  /** Where the next byte is read. */
  get position(): number {
    return this.#settled + this.#feed.heldBytes;
  }

  get emittedOffset(): number {
    return this.#assembler.emittedOffset;
  }

  get dueMs(): number {
    return Math.min(this.#assembler.dueMs, this.#feed.heldBytes > 0 ? this.#heldMs + this.#idleMs : Infinity);
  }

  push(data: Buffer, nowMs: number): RecordEntry[] {
    const nuls = this.isUnread ? countNuls(data) : 0;
    if (nuls > 0) this.skipTo(this.#settled + nuls);
    const settled = this.#feed.push(data.subarray(nuls));
    this.#heldMs = nowMs;
    return this.#entries(this.#take(settled, nowMs));
  }

  flush(nowMs: number): RecordEntry[] {
    const isDue = this.#feed.heldBytes > 0 && nowMs >= this.#heldMs + this.#idleMs;
    const held = isDue ? this.#take(this.#feed.end(), this.#heldMs) : [];
    return this.#entries([...held, ...this.#assembler.flush(nowMs)]);
  }

  flushLines(): RecordEntry[] {
    return this.#entries(this.#assembler.flushLines());
  }

  flushAll(): RecordEntry[] {
    return this.#entries([...this.#take(this.#feed.end(), this.#heldMs), ...this.#assembler.flushAll()]);
  }

  /** Other secrets are known now: masks them in what was not told yet, and in what names the file. */
  rescrub(scrubber: Scrubber): void {
    this.#assembler.change((bytes) => scrubber.mask(bytes));
    const head = Buffer.from(this.#head);
    if (!scrubber.mask(head)) return;
    this.#head = head;
    this.#mark = undefined;
    this.#ref = undefined;
  }

  #take(settled: Buffer, nowMs: number): Piece[] {
    this.#extendHead(settled);
    this.#settled += settled.length;
    return this.#assembler.push(settled, nowMs);
  }

  #extendHead(data: Buffer): void {
    const known = this.#headFrom + this.#head.length;
    const isKnown = this.#head.length >= HEAD_BYTES || this.#settled + data.length <= known;
    if (isKnown || this.#settled > known) return;
    const more = data.subarray(known - this.#settled, this.#headFrom + HEAD_BYTES - this.#settled);
    this.#head = Buffer.concat([this.#head, more]);
    this.#mark = undefined;
    this.#ref = undefined;
  }

  #entries(pieces: readonly Piece[]): RecordEntry[] {
    return pieces.map((piece) => {
      const entry = new RecordEntry(piece, this, piece.continued ? this.#first : undefined);
      if (!piece.continued || !this.#first) this.#first = entry;
      if (!Number.isNaN(piece.head.timeMs)) this.firstTimeMs ??= piece.head.timeMs;
      return entry;
    });
  }
}
