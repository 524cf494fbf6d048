import { rowDay } from '../row/archive-row.ts';
import { BACKSLASH, LineReader, QUOTE, type Span, ZERO } from './line-reader.ts';

/*
 * Makes rows of the lines of a search. Both are JSON of the same values, so most of a line is copied as it is;
 * `recordToRow` makes the same, slowly.
 */

const MINUS = 0x2d;
const LETTER_U = 0x75;
const DAY_MS = 86_400_000;

/** Room for what a row has besides the parts of its line. */
const ROW_BYTES = 512;

/** Reads one line of a search at a time, and appends its row to a buffer if it is to be shipped. */
export class RowWriter {
  /** Of the line that was read last. */
  readonly reader = new LineReader();
  /** Rows so far, in `body` up to `length`. */
  body: Buffer = Buffer.allocUnsafe(256 * 1024);
  length = 0;
  #prefix = Buffer.alloc(0);
  #shippedMs = 0;
  /** The day of the last row: neighbours are mostly of the same one. */
  #dayNumber = Number.NaN;
  #dayText = '';
  #day = Buffer.alloc(0);

  /** What all rows of a file begin with: columns and their values. */
  setFile(columns: Readonly<Record<string, string | number>>, shippedMs: number): void {
    const text = JSON.stringify({ ...columns, shipped_ms: shippedMs });
    this.#prefix = Buffer.from(`${text.slice(0, -1)},"file_offset":`);
    this.#shippedMs = shippedMs;
    this.#dayNumber = Number.NaN;
  }

  /** Hands the rows over, and begins anew. */
  take(): Buffer {
    const rows = Buffer.from(this.body.subarray(0, this.length));
    this.length = 0;
    return rows;
  }

  /** Appends the row of the record that was read. `previousMs`: see `RowPlace`. Returns its day. */
  write(previousMs: number): string {
    const { offsetDigits, bytesDigits, timeDigits, check, timeMs, columns, raw, context, message } = this.reader;
    this.#reserve(
      this.#prefix.length + (message.end - columns.at) + (raw.end - raw.at) + 2 * (context.end - context.at),
    );
    this.length += this.#prefix.copy(this.body, this.length);
    this.#putShort(offsetDigits);
    this.#putWord(BYTES);
    this.#putShort(bytesDigits);
    this.#putWord(CHECK);
    this.#putNumber(check);
    this.#setDay(timeMs ?? previousMs);
    this.#putWord(this.#day);
    if (timeMs === undefined) this.#putNumber(previousMs);
    else this.#putShort(timeDigits);
    this.#putWord(timeMs === undefined ? NO_TIME : TIME);
    this.#putJson(columns);
    this.#putWord(LINE);
    this.#putSpan(raw);
    const escapedContext = context.end > 0 ? this.#putContext(context) : 0;
    this.#putMessage(escapedContext);
    if (this.reader.isCut) this.#putWord(CUT);
    if (this.reader.isContinued) this.#putWord(CONTINUED);
    this.#putWord(END);
    return this.#dayText;
  }

  #setDay(timeMs: number): void {
    const number = Math.floor(timeMs / DAY_MS);
    if (number === this.#dayNumber) return;
    this.#dayNumber = number;
    this.#dayText = rowDay(timeMs, this.#shippedMs);
    this.#day = Buffer.from(`,"day":"${this.#dayText}","time_ms":`);
  }

  /** Where the message is in the text; itself where it is no part of it. */
  #putMessage(escapedContext: number): void {
    const { message, raw } = this.reader;
    const length = message.end - message.at - 2;
    const at = this.#findMessage(length, escapedContext);
    const head = at < 0 ? -1 : this.#plainBytes(raw.at + 1, at);
    if (head < 0) {
      this.#putWord(MESSAGE_TEXT);
      this.#putJson(message);
      return;
    }
    const tail = this.#plainBytes(at + length, raw.end - 1);
    if (head > 0) this.#putWord(MESSAGE_AT);
    if (head > 0) this.#putNumber(head);
    if (tail > 0) this.#putWord(MESSAGE_TAIL);
    if (tail > 0) this.#putNumber(tail);
  }

  /** Where the escaped message starts in the escaped text; -1 if it does not. */
  #findMessage(length: number, escapedContext: number): number {
    const { line, message, raw } = this.reader;
    const [from, to] = [message.at + 1, message.end - 1];
    if (length === 0) return raw.end - 1;
    // Mostly it is the end of the text, or what precedes a tab and the context.
    const behind = escapedContext > 0 ? escapedContext + 2 : 0;
    const at = raw.end - 1 - behind - length;
    if (at > raw.at && line.compare(line, from, to, at, at + length) === 0) return at;
    const text = line.subarray(raw.at + 1, raw.end - 1);
    const found = text.lastIndexOf(line.subarray(from, to));
    return found < 0 ? -1 : raw.at + 1 + found;
  }

  /** Bytes of UTF-8 that an escaped text stands for; -1 if it ends in the middle of an escape. */
  #plainBytes(start: number, end: number): number {
    const { line } = this.reader;
    let bytes = 0;
    let at = start;
    for (; at < end; bytes++) {
      if (line[at] !== BACKSLASH) at++;
      else at += line[at + 1] === LETTER_U ? 6 : 2;
    }
    return at === end ? bytes : -1;
  }

  /** The text of an object, as a string. Returns its length, escaped. */
  #putContext({ at: start, end }: Span): number {
    this.#putWord(CONTEXT);
    const { line } = this.reader;
    const body = this.body;
    const from = this.length;
    let length = from;
    for (let at = start; at < end; at++) {
      const byte = line[at] as number;
      if (byte === QUOTE || byte === BACKSLASH) body[length++] = BACKSLASH;
      body[length++] = byte;
    }
    body[length++] = QUOTE;
    this.length = length;
    return length - 1 - from;
  }

  #reserve(bytes: number): void {
    if (this.length + bytes + ROW_BYTES <= this.body.length) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.body.length, this.length + bytes + ROW_BYTES));
    this.body.copy(grown, 0, 0, this.length);
    this.body = grown;
  }

  #putSpan({ at, end }: Span): void {
    this.length += this.reader.line.copy(this.body, this.length, at, end);
  }

  /** Halves of characters, which some logs of JSON contain, are no text: servers refuse them. */
  #putJson(span: Span): void {
    const { line } = this.reader;
    const start = this.length;
    this.#putSpan(span);
    for (let at = line.indexOf(BACKSLASH, span.at); at >= 0 && at < span.end; at = line.indexOf(BACKSLASH, at + 2)) {
      const isHalf = line[at + 1] === LETTER_U && line[at + 2] === 0x64 && (line[at + 3] as number) > ZERO + 7;
      if (isHalf) this.body.write('fffd', start + at + 2 - span.at, 'latin1');
    }
  }

  /** A few bytes: faster than a call that copies them. */
  #putShort({ at: start, end }: Span): void {
    const { line } = this.reader;
    const body = this.body;
    let length = this.length;
    for (let at = start; at < end; at++) body[length++] = line[at] as number;
    this.length = length;
  }

  #putWord(word: Buffer): void {
    const body = this.body;
    const length = this.length;
    for (let at = 0; at < word.length; at++) body[length + at] = word[at] as number;
    this.length = length + word.length;
  }

  /** An integer. */
  #putNumber(value: number): void {
    const body = this.body;
    let rest = Math.abs(value);
    if (value < 0) body[this.length++] = MINUS;
    let digits = 1;
    for (let limit = 10; rest >= limit; limit *= 10) digits++;
    for (let at = this.length + digits - 1; at >= this.length; at--) {
      const next = Math.floor(rest / 10);
      body[at] = ZERO + rest - next * 10;
      rest = next;
    }
    this.length += digits;
  }
}

const BYTES = Buffer.from(',"bytes":');
const CHECK = Buffer.from(',"cursor_check":');
const TIME = Buffer.from(',"has_time":1,');
const NO_TIME = Buffer.from(',"has_time":0,');
const LINE = Buffer.from('"line":');
const CONTEXT = Buffer.from(',"context":"');
const MESSAGE_TEXT = Buffer.from(',"message_text":');
const MESSAGE_AT = Buffer.from(',"message_at":');
const MESSAGE_TAIL = Buffer.from(',"message_tail":');
const CUT = Buffer.from(',"cut":1');
const CONTINUED = Buffer.from(',"continued":1');
const END = Buffer.from('}\n');
