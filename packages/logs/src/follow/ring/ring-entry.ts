import { resumeCursor } from '../../cursor/cursor.ts';
import type { Format } from '../../parse/format.ts';
import { shownFields } from '../../scan/block/record-formatter.ts';
import type { FollowItem, FoundRecord } from '../../types.ts';
import type { Piece } from '../tail/record-assembler.ts';
import type { CursorMaker } from './cursor-maker.ts';

/** The file a record was read from, as far as records need to know it. */
export interface EntrySource {
  /** Of the file as it is known now; the object is another one when its name or mark has changed. */
  readonly ref: SourceRef;
  readonly format: Format;
  /** The first bytes of the text, by which marks are compared. */
  readonly head: Buffer;
}

export interface SourceRef {
  readonly name: string;
  readonly cursors: CursorMaker;
}

/** What happened to the file, told between records. */
export type FollowEvent = Exclude<FollowItem, FoundRecord | { type: 'end' }>;

export interface EventEntry {
  kind: 'event';
  event: FollowEvent;
}

export type RingEntry = RecordEntry | EventEntry;

/** A record in the ring. What is told of it is made once, when first wanted, and shared by all followers. */
export class RecordEntry {
  readonly kind = 'record';
  readonly piece: Piece;
  readonly source: EntrySource;
  /** The entry whose filter decision holds for this one: itself, or the one it continues. */
  readonly first: RecordEntry;
  readonly #ref: SourceRef;
  readonly #format: Format;
  #plain: FoundRecord | undefined;
  #raw: FoundRecord | undefined;

  constructor(piece: Piece, source: EntrySource, first?: RecordEntry) {
    this.piece = piece;
    this.source = source;
    this.first = first ?? this;
    // These change while a file is read; a record keeps what held when it was read.
    this.#ref = source.ref;
    this.#format = source.format;
  }

  get format(): Format {
    return this.#format;
  }

  get cursor(): string {
    return this.found({ raw: false }).cursor;
  }

  /** Continues with this record itself; where its file is gone, with what is not older. */
  get before(): string {
    const { timeMs } = this.first.piece.head;
    const at = { cursor: this.cursor, offset: this.piece.offset, bytes: 0 };
    return resumeCursor({ ...at, timeMs: Number.isNaN(timeMs) ? undefined : timeMs });
  }

  /** Cursor of the place behind it. */
  get end(): string {
    const { offset, bytes } = this.piece;
    return this.#ref.cursors.at(offset + bytes.length, Buffer.alloc(0));
  }

  found({ raw }: { raw: boolean }): FoundRecord {
    if (raw) {
      this.#raw ??= this.#show(true);
      return this.#raw;
    }
    this.#plain ??= this.#show(false);
    return this.#plain;
  }

  /** Its bytes have changed: what is told of it is made anew. */
  clearCache(): void {
    this.#plain = undefined;
    this.#raw = undefined;
  }

  /** The part of it behind an offset that was told already. */
  from(offset: number): RecordEntry {
    const bytes = this.piece.bytes.subarray(offset - this.piece.offset);
    return new RecordEntry({ ...this.piece, offset, bytes, continued: true }, this.source, this.first);
  }

  #show(raw: boolean): FoundRecord {
    const { bytes, offset, continued = false, unfinished } = this.piece;
    const span = { bytes, start: 0, end: bytes.length };
    const fields = shownFields(span, this.#format, { raw, continued, headless: continued });
    const { name: file, cursors } = this.#ref;
    const position = { type: 'record', file, offset, bytes: bytes.length, cursor: cursors.at(offset, bytes) } as const;
    const found: FoundRecord = Object.assign(position, fields);
    if (unfinished) found.unfinished = true;
    return found;
  }
}
