import type { Format, LineHead } from '../../parse/format.ts';
import { characterEnd } from '../../scan/block/record-formatter.ts';

const NEWLINE = 10;

/** A longer line, or record, is told in pieces: what is held per file stays bounded. */
export const MAX_PIECE_BYTES = 256 * 1024;

/** A stack trace comes with its first line or right after it; a reader does not notice this delay. */
export const HOLD_MS = 20;

/** However steadily continuation lines come: far below the 50 ms in which a line has to reach its reader. */
const MAX_HOLD_MS = 40;

/** Programs write whole lines; one that stays half-written for this long is shown as it is. */
export const IDLE_MS = 1000;

/** A run of bytes to be told: a record, or a part of one. */
export interface Piece {
  offset: number;
  bytes: Buffer;
  head: LineHead;
  /** Goes on with what the piece before it began. */
  continued: boolean;
  /** Its last line has no end yet. */
  unfinished: boolean;
}

export interface AssemblerTimes {
  holdMs?: number | undefined;
  idleMs?: number | undefined;
}

/**
 * Makes records of the bytes of one text as they come. Every byte is told exactly once and in order. Time is an
 * argument; `dueMs` says when to call `flush` next.
 */
export class RecordAssembler {
  readonly #holdMs: number;
  readonly #idleMs: number;
  format: Format;
  /** Held bytes: whole lines of one record, then a line without end. */
  #chunks: Buffer[] = [];
  #size = 0;
  /** Of the first held byte. */
  #offset: number;
  /** Length of the whole lines. */
  #linesEnd = 0;
  #head: LineHead = noHead();
  /** What the held lines are: the start of a record, or more of what was told. */
  #continues: boolean;
  /** The first held byte stands within a line whose start was told. */
  #midLine = false;
  #linesSinceMs = 0;
  #lastLineMs = 0;
  #grownMs = 0;

  /** `continues`: whether lines that start no record belong to one before `offset`. */
  constructor(format: Format, offset: number, { continues, ...times }: AssemblerTimes & { continues: boolean }) {
    this.format = format;
    this.#offset = offset;
    this.#continues = continues;
    this.#holdMs = times.holdMs ?? HOLD_MS;
    this.#idleMs = times.idleMs ?? IDLE_MS;
  }

  /** Everything before it has been told. */
  get emittedOffset(): number {
    return this.#offset;
  }

  /** Passes over bytes that are no text, while nothing is held. */
  skip(bytes: number): void {
    this.#offset += bytes;
  }

  /** When something held has to be told; `Infinity` where nothing is held. */
  get dueMs(): number {
    const lines = Math.min(this.#lastLineMs + this.#holdMs, this.#linesSinceMs + Math.max(MAX_HOLD_MS, this.#holdMs));
    const rest = this.#grownMs + this.#idleMs;
    return Math.min(this.#linesEnd > 0 ? lines : Infinity, this.#size > this.#linesEnd ? rest : Infinity);
  }

  /** Takes the next bytes of the text; they are kept, not copied. */
  push(data: Buffer, nowMs: number): Piece[] {
    if (data.length === 0) return [];
    const scanned = this.#size;
    this.#chunks.push(data);
    this.#size += data.length;
    this.#grownMs = nowMs;
    if (!data.includes(NEWLINE) && this.#size <= MAX_PIECE_BYTES) return [];
    const pieces: Piece[] = [];
    this.#readLines(this.#joined(), scanned, { nowMs, pieces });
    while (this.#size - this.#linesEnd > MAX_PIECE_BYTES) {
      this.#emitLines(pieces);
      this.#emitRest(pieces, characterEnd(this.#joined(), 0, MAX_PIECE_BYTES));
    }
    return pieces;
  }

  /** Tells what was held long enough. */
  flush(nowMs: number): Piece[] {
    const pieces: Piece[] = [];
    const restIsDue = this.#size > this.#linesEnd && nowMs >= this.#grownMs + this.#idleMs;
    if (this.#linesEnd > 0 && (restIsDue || nowMs >= this.dueMs)) this.#emitLines(pieces);
    if (restIsDue) this.#emitRest(pieces, this.#size);
    return pieces;
  }

  /** Tells the whole lines now: no more will come soon. */
  flushLines(): Piece[] {
    const pieces: Piece[] = [];
    this.#emitLines(pieces);
    return pieces;
  }

  /** Tells everything now. */
  flushAll(): Piece[] {
    const pieces = this.flushLines();
    this.#emitRest(pieces, this.#size);
    return pieces;
  }

  /** Changes what is held, but neither its length nor its line ends. */
  change(change: (bytes: Buffer) => void): void {
    change(this.#joined());
  }

  #readLines(bytes: Buffer, scanned: number, { nowMs, pieces }: { nowMs: number; pieces: Piece[] }): void {
    let from = scanned;
    let text = bytes;
    const head = noHead();
    for (let newline = text.indexOf(NEWLINE, from); newline >= 0; newline = text.indexOf(NEWLINE, from)) {
      const startsRecord = !this.#midLine && this.format.readHead(text, this.#linesEnd, newline + 1, head);
      if (startsRecord) {
        const emittedEnd = this.#linesEnd;
        this.#emitLines(pieces);
        text = text.subarray(emittedEnd);
        newline -= emittedEnd;
        this.#head = { ...head };
        this.#continues = false;
      }
      this.#midLine = false;
      if (this.#linesEnd === 0) this.#linesSinceMs = nowMs;
      this.#lastLineMs = nowMs;
      this.#linesEnd = newline + 1;
      from = newline + 1;
      if (this.#linesEnd < MAX_PIECE_BYTES) continue;
      this.#emitLines(pieces);
      text = text.subarray(from);
      from = 0;
    }
  }

  #emitLines(pieces: Piece[]): void {
    if (this.#linesEnd > 0) pieces.push(this.#take(this.#linesEnd, false));
  }

  /** Of the line without end, which is all that is held. One that is not known to go on anything stands for itself. */
  #emitRest(pieces: Piece[], most: number): void {
    const length = Math.min(most, this.#size);
    if (length === 0) return;
    if (!this.#midLine) {
      const head = noHead();
      this.format.readHead(this.#joined(), 0, length, head);
      this.#head = head;
      this.#continues = false;
    }
    pieces.push(this.#take(length, true));
    this.#midLine = true;
  }

  #take(length: number, unfinished: boolean): Piece {
    const held = this.#joined();
    const piece = {
      offset: this.#offset,
      bytes: held.subarray(0, length),
      head: this.#head,
      continued: this.#continues,
      unfinished,
    };
    this.#chunks = length < held.length ? [held.subarray(length)] : [];
    this.#size -= length;
    this.#offset += length;
    this.#linesEnd = 0;
    this.#continues = true;
    return piece;
  }

  #joined(): Buffer {
    const [only] = this.#chunks;
    if (only && this.#chunks.length === 1) return only;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}

function noHead(): LineHead {
  return { timeMs: Number.NaN, rank: 0 };
}
