import { CHECK_BYTES, type FileMark, fnv1a, markEncoder, resumeCursor } from '../../cursor/cursor.ts';
import type { Format, LineHead } from '../../parse/format.ts';
import { fieldJson } from '../../query/record-fields.ts';
import { shownFields } from '../../scan/block/record-formatter.ts';
import type { FollowItem, FoundRecord } from '../../types.ts';
import type { TextPart } from '../followed-text.ts';

/** Bytes to be emitted: a record, or a part of one. */
export interface Piece {
  offset: number;
  bytes: Buffer;
  head: LineHead;
  /** Continues the record of the previous piece. */
  continued: boolean;
  /** Its last line has no newline yet. */
  unfinished: boolean;
}

/** What a record needs to know about the file it was read from. */
export interface EntrySource {
  /** The current name and cursors; a new object whenever the name or the mark changes. */
  readonly ref: SourceRef;
  readonly format: Format;
  /** The first bytes of the text, which marks are compared with. */
  readonly head: Buffer;
  /** Time of its first record that has one. */
  readonly firstTimeMs: number | undefined;
}

export interface SourceRef {
  readonly name: string;
  /** Whether so much of the file is known that no other one begins like it. */
  readonly isIdentified: boolean;
  readonly cursors: CursorMaker;
}

/** Encodes the cursors of one file's records. */
export class CursorMaker {
  readonly #encode: ReturnType<typeof markEncoder>;

  constructor(mark: FileMark, file: string) {
    this.#encode = markEncoder({ ...mark, file });
  }

  /** The cursor of the record with these bytes; without any, of the position itself. */
  at(offset: number, bytes: Buffer): string {
    const checkBytes = Math.min(CHECK_BYTES, bytes.length);
    return this.#encode({ offset, check: fnv1a(bytes, 0, checkBytes), checkBytes });
  }
}

/** What happened to the file, emitted between records. */
export type FollowEvent = Exclude<FollowItem, FoundRecord | { type: 'end' }>;

export interface EventEntry {
  kind: 'event';
  event: FollowEvent;
}

export type RingEntry = RecordEntry | EventEntry;

/** A record in the ring. Its public form is created once, when first needed, and shared by all followers. */
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
    // These change while a file is read; a record keeps the values of the time it was read.
    this.#ref = source.ref;
    this.#format = source.format;
  }

  get format(): Format {
    return this.#format;
  }

  get cursor(): string {
    return this.found({ raw: false }).cursor;
  }

  /** Cursor that continues with this record itself; if its file was deleted, with what is not older. */
  get before(): string {
    const { offset, bytes } = this.piece;
    return resumeCursor({ cursor: this.#ref.cursors.at(offset, bytes), offset, bytes: 0, timeMs: this.resumeMs });
  }

  /** Cursor that continues after it, and with the rest of it if it grows. */
  get after(): string {
    const { offset, bytes } = this.piece;
    const cursor = this.#ref.cursors.at(offset, bytes);
    return resumeCursor({ cursor, offset, bytes: bytes.length, timeMs: this.resumeMs });
  }

  /** `undefined` if its line is not finished, or the file is so short that another one may begin like it. */
  get part(): TextPart | undefined {
    const { offset, bytes: text, continued, unfinished, head } = this.piece;
    const { name: file, isIdentified } = this.#ref;
    if (unfinished || !isIdentified) return undefined;
    return { source: this.#ref, file, offset, text, continued, timeMs: head.timeMs, after: () => this.after };
  }

  /**
   * A time at which to continue if its file was deleted: that of the record it belongs to, or else the first one of the
   * file, because other files were written either before that or after all of this file.
   */
  get resumeMs(): number | undefined {
    const { timeMs } = this.first.piece.head;
    return Number.isNaN(timeMs) ? this.source.firstTimeMs : timeMs;
  }

  /** Cursor of the position after it. */
  get end(): string {
    const { offset, bytes } = this.piece;
    return this.#ref.cursors.at(offset + bytes.length, Buffer.alloc(0));
  }

  found({ raw, fields }: { raw: boolean; fields?: readonly string[] | undefined }): FoundRecord {
    if (fields && fields.length > 0) {
      const found = this.found({ raw });
      return { ...found, fields: fieldJson(found, fields) };
    }
    if (raw) {
      this.#raw ??= this.#show(true);
      return this.#raw;
    }
    this.#plain ??= this.#show(false);
    return this.#plain;
  }

  /** Its bytes have changed: the public form is created anew. */
  clearCache(): void {
    this.#plain = undefined;
    this.#raw = undefined;
  }

  /** The part of it after an offset up to which it was delivered. */
  from(offset: number): RecordEntry {
    const bytes = this.piece.bytes.subarray(offset - this.piece.offset);
    return new RecordEntry({ ...this.piece, offset, bytes, continued: true }, this.source, this.first);
  }

  #show(raw: boolean): FoundRecord {
    const { bytes, offset, continued = false, unfinished } = this.piece;
    const span = { bytes, start: 0, end: bytes.length };
    const fields = shownFields(span, this.#format, { raw, continued, headless: continued });
    const { name: file, cursors } = this.#ref;
    const at = { cursor: cursors.at(offset, bytes), offset, bytes: bytes.length };
    // A continued record does not show its time, and whoever resumes after it needs one.
    const cursor = continued ? resumeCursor({ ...at, timeMs: this.resumeMs }) : at.cursor;
    const position = { type: 'record', file, ...at, cursor } as const;
    const found: FoundRecord = Object.assign(position, fields);
    if (unfinished) found.unfinished = true;
    return found;
  }
}
