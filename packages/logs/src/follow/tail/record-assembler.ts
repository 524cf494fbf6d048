import type { Format, LineHead } from '../../parse/format.ts';
import { characterEnd } from '../../scan/block/record-formatter.ts';
import type { Piece } from '../ring/ring-entry.ts';

const NEWLINE = 10;

/** A longer line or record is split, to bound the memory per file. */
export const MAX_PIECE_BYTES = 256 * 1024;

/** A stack trace is written with its first line or right after it; nobody notices this delay. */
export const HOLD_MS = 20;

/** Upper bound even if continuation lines keep coming: far below the 50 ms within which a line must reach its reader. */
const MAX_HOLD_MS = 40;

/** Programs write whole lines; one that stays incomplete for this long is emitted as it is. */
export const IDLE_MS = 1000;

export interface AssemblerTimes {
  holdMs?: number | undefined;
  idleMs?: number | undefined;
}

/**
 * Assembles records from the bytes of one text as they arrive. Every byte is emitted exactly once and in order. Time is
 * an argument; `dueMs` is when to call `flush` next.
 */
export class RecordAssembler {
  readonly #holdMs: number;
  readonly #idleMs: number;
  format: Format;
  /** Buffered bytes: whole lines of one record, then an incomplete line. */
  #chunks: Buffer[] = [];
  #size = 0;
  /** Offset of the first buffered byte. */
  #offset: number;
  /** Length of the buffered whole lines. */
  #linesEnd = 0;
  #head: LineHead = noHead();
  /** Whether the buffered lines continue an emitted record rather than start one. */
  #continues: boolean;
  /** The first buffered byte is within a line whose start was emitted. */
  #midLine = false;
  #linesSinceMs = 0;
  #lastLineMs = 0;
  #grownMs = 0;

  /** `continues`: whether continuation lines at `offset` belong to a record before it. */
  constructor(format: Format, offset: number, { continues, ...times }: AssemblerTimes & { continues: boolean }) {
    this.format = format;
    this.#offset = offset;
    this.#continues = continues;
    this.#holdMs = times.holdMs ?? HOLD_MS;
    this.#idleMs = times.idleMs ?? IDLE_MS;
  }

  /** Everything before it has been emitted. */
  get emittedOffset(): number {
    return this.#offset;
  }

  /** Skips bytes that are no text, while nothing is buffered. */
  skip(bytes: number): void {
    this.#offset += bytes;
  }

  /** When buffered bytes have to be emitted; `Infinity` if there are none. */
  get dueMs(): number {
    const lines = Math.min(this.#lastLineMs + this.#holdMs, this.#linesSinceMs + Math.max(MAX_HOLD_MS, this.#holdMs));
    const rest = this.#grownMs + this.#idleMs;
    return Math.min(this.#linesEnd > 0 ? lines : Infinity, this.#size > this.#linesEnd ? rest : Infinity);
  }

  /** Takes the next bytes of the text, without copying them. */
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

  /** Emits what was buffered long enough. */
  flush(nowMs: number): Piece[] {
    const pieces: Piece[] = [];
    const restIsDue = this.#size > this.#linesEnd && nowMs >= this.#grownMs + this.#idleMs;
    if (this.#linesEnd > 0 && (restIsDue || nowMs >= this.dueMs)) this.#emitLines(pieces);
    if (restIsDue) this.#emitRest(pieces, this.#size);
    return pieces;
  }

  /** Emits the whole lines now, when no more are expected soon. */
  flushLines(): Piece[] {
    const pieces: Piece[] = [];
    this.#emitLines(pieces);
    return pieces;
  }

  /** Emits everything now. */
  flushAll(): Piece[] {
    const pieces = this.flushLines();
    this.#emitRest(pieces, this.#size);
    return pieces;
  }

  /** Changes the buffered bytes in place, but neither their length nor the newlines. */
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

  /** Emits the incomplete line, which is all that is buffered. Unless its start was emitted, it is a record of its own. */
  #emitRest(pieces: Piece[], most: number): void {
    const length = Math.min(most, this.#size);
    if (length === 0) return;
    if (!this.#midLine) {
      this.#readHead(this.#joined().subarray(0, length));
      this.#continues = false;
    }
    pieces.push(this.#take(length, true));
    this.#midLine = true;
  }

  #take(length: number, unfinished: boolean): Piece {
    const held = this.#joined();
    // The lines below were not there when the first one was read.
    if (this.format.readsBelow && !this.#continues) this.#readHead(held.subarray(0, length));
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

  /** Of a record: its first line, and those below it, as far as they have come. */
  #readHead(record: Buffer): void {
    this.#head = noHead();
    this.format.readHead(record, 0, record.indexOf(NEWLINE) + 1 || record.length, this.#head);
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
