import { type FileMark, HEAD_BYTES } from '../cursor/cursor.ts';
import { markFile } from '../cursor/file-mark.ts';
import type { Format } from '../parse/format.ts';
import { CursorMaker } from './cursor-maker.ts';
import { type AssemblerTimes, type Piece, RecordAssembler } from './record-assembler.ts';
import { type EntrySource, RecordEntry, type SourcePlace } from './ring-entry.ts';

export interface TailTextOptions extends AssemblerTimes {
  name: string;
  /** Where the first byte to come stands. */
  offset: number;
  /** What is known of the text's first bytes; the rest of them is taken from what comes. */
  head: Buffer;
  format: Format;
}

/** The text of one file as records: what a plain file and an unpacked archive have in common. */
export class TailText implements EntrySource {
  readonly #assembler: RecordAssembler;
  #head: Buffer;
  #name: string;
  #mark: FileMark | undefined;
  #place: SourcePlace | undefined;
  #position: number;
  /** The record that what follows may continue. */
  #first: RecordEntry | undefined;
  /** Of its first record; `undefined` until there is one with a time, or where the text was not read from its start. */
  firstTimeMs: number | undefined;

  constructor({ name, offset, head, format, ...times }: TailTextOptions) {
    this.#name = name;
    this.#head = head.subarray(0, HEAD_BYTES);
    this.#position = offset;
    this.#assembler = new RecordAssembler(format, offset, { ...times, continues: offset > 0 });
  }

  get name(): string {
    return this.#name;
  }

  /** A file is renamed while it is read. */
  set name(name: string) {
    this.#name = name;
    this.#place = undefined;
  }

  get place(): SourcePlace {
    this.#place ??= { name: this.#name, cursors: new CursorMaker(this.mark, this.#name) };
    return this.#place;
  }

  get head(): Buffer {
    return this.#head;
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
    return this.#position;
  }

  get toldOffset(): number {
    return this.#assembler.toldOffset;
  }

  get dueMs(): number {
    return this.#assembler.dueMs;
  }

  push(data: Buffer, nowMs: number): RecordEntry[] {
    this.#extendHead(data);
    this.#position += data.length;
    return this.#entries(this.#assembler.push(data, nowMs));
  }

  flush(nowMs: number): RecordEntry[] {
    return this.#entries(this.#assembler.flush(nowMs));
  }

  flushLines(): RecordEntry[] {
    return this.#entries(this.#assembler.flushLines());
  }

  flushAll(): RecordEntry[] {
    return this.#entries(this.#assembler.flushAll());
  }

  #extendHead(data: Buffer): void {
    const known = this.#head.length;
    if (known >= HEAD_BYTES || this.#position > known || this.#position + data.length <= known) return;
    const more = data.subarray(known - this.#position, HEAD_BYTES - this.#position);
    this.#head = Buffer.concat([this.#head, more]);
    this.#mark = undefined;
    this.#place = undefined;
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
