import { type FileMark, HEAD_BYTES } from '../../cursor/cursor.ts';
import { markFile } from '../../cursor/file-mark.ts';
import { countNuls } from '../../file/read-start.ts';
import type { Format } from '../../parse/format.ts';
import { ScrubFeed } from '../../scrub/scrub-feed.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { CursorMaker, type EntrySource, RecordEntry, type SourceRef } from '../ring/ring-entry.ts';
import { type AssemblerTimes, IDLE_MS, type Piece, RecordAssembler } from './record-assembler.ts';

export interface TailTextOptions extends AssemblerTimes {
  name: string;
  /** Offset of the first byte to be pushed. */
  offset: number;
  /** The first bytes of the text as far as known; the rest of them is taken from what is pushed. */
  head: Buffer;
  /** Their offset: after the hole, if the file starts with one. */
  headFrom?: number;
  format: Format;
  /** The current masking of secrets. */
  scrubber(): Scrubber | undefined;
  /** The unmasked bytes before the first byte to be pushed: a secret may have started there. */
  before?: Buffer;
}

/**
 * Turns the text of a plain file or an unpacked archive into records. It is pushed unmasked and emitted with secrets
 * masked; what may be the start of a secret is buffered like an incomplete line.
 */
export class TailText implements EntrySource {
  readonly #assembler: RecordAssembler;
  readonly #feed: ScrubFeed;
  readonly #idleMs: number;
  /** When the feed last buffered something. */
  #heldMs = 0;
  #head: Buffer;
  #headFrom: number;
  #name: string;
  #mark: FileMark | undefined;
  #ref: SourceRef | undefined;
  /** Offset of the first byte that the feed has not returned yet. */
  #settled: number;
  /** The record that the next lines may continue. */
  #first: RecordEntry | undefined;
  /** Time of its first record; `undefined` until a record has one, or if the text was not read from its start. */
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

  /** The file was renamed. */
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

  /** Where the text starts: after the hole, if the file starts with one. */
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

  /** Skips the hole that the file starts with. */
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

  /** Offset of the next byte to read. */
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

  /** The secrets have changed: masks them in what was not emitted yet, and in the head that identifies the file. */
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
