/*
 * Finds the fields of a record in its line of a search, which is JSON as our engine writes it: keys in their order, no
 * white space. Parsing each line takes five times as long.
 */

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const ZERO = 0x30;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const TIME_KEY = Buffer.from(',"timeMs":');
const MESSAGE_KEY = Buffer.from(',"message":');
const CONTEXT_KEY = Buffer.from(',"context":');
const CONTEXT_TEXT_KEY = Buffer.from(',"contextText":');
const RAW_KEY = Buffer.from(',"raw":');
const CUT = Buffer.from(',"cut":true');
const CONTINUED = Buffer.from(',"continued":true');

/** Lengths of `,"bytes":` and `,"cursor":"`. */
const BYTES_KEY = 9;
const CURSOR_KEY = 11;

/** A part of the line; empty if there is no such field. */
export interface Span {
  at: number;
  end: number;
}

const span = (): Span => ({ at: 0, end: 0 });

/** The fields of the line that was read last. */
export class LineReader {
  line: Buffer = Buffer.alloc(0);
  offset = 0;
  bytes = 0;
  timeMs: number | undefined;
  /** Their digits. */
  readonly offsetDigits = span();
  readonly bytesDigits = span();
  readonly timeDigits = span();
  /** The checksum in its cursor. */
  check = 0;
  /** Level, source and tags, with their names and the comma behind each. */
  readonly columns = span();
  /** Strings, with their quotes. */
  readonly message = span();
  readonly raw = span();
  /** With its braces. */
  readonly context = span();
  isCut = false;
  isContinued = false;
  #at = 0;

  /** Reads `[start, end)`, which begins at the number of the offset; its last byte is the brace that ends it. */
  read(line: Buffer, start: number, end: number): void {
    this.line = line;
    this.offset = this.#number(start, this.offsetDigits);
    this.bytes = this.#number(this.#at + BYTES_KEY, this.bytesDigits);
    this.#readCursor(this.#at + CURSOR_KEY);
    const hasTime = this.#has(TIME_KEY);
    this.timeMs = hasTime ? this.#number(this.#at + TIME_KEY.length, this.timeDigits) : undefined;
    // Inside of strings, quotes are escaped: this is the key.
    const messageKey = line.indexOf(MESSAGE_KEY, this.#at);
    if (messageKey < 0 || messageKey >= end) throw new TypeError('the line of a record has no message');
    setSpan(this.columns, this.#at + 1, messageKey + 1);
    this.#at = messageKey + MESSAGE_KEY.length;
    setSpan(this.message, this.#at, this.#stringEnd());
    this.isCut = this.isContinued = false;
    setSpan(this.context, 0, 0);
    this.#at = this.message.end;
    this.#readRest(end);
  }

  /** Context, marks and text; a context that is shown as it is in the log comes last. */
  #readRest(end: number): void {
    if (this.#has(CONTEXT_KEY)) this.#readContext(end);
    if (this.#has(CONTEXT_TEXT_KEY)) this.#at = this.#stringEnd(this.#at + CONTEXT_TEXT_KEY.length);
    if (this.#has(CUT)) {
      this.isCut = true;
      this.#at += CUT.length;
    }
    if (this.#has(CONTINUED)) {
      this.isContinued = true;
      this.#at += CONTINUED.length;
    }
    if (!this.#has(RAW_KEY)) throw new TypeError('the line of a record has no text');
    this.#at += RAW_KEY.length;
    // A text that is the last field ends with the line.
    const isLast = this.line[end - 2] === QUOTE;
    setSpan(this.raw, this.#at, isLast ? end - 1 : this.#stringEnd());
    this.#at = this.raw.end;
    if (!isLast && this.#has(CONTEXT_KEY)) setSpan(this.context, this.#at + CONTEXT_KEY.length, end - 1);
  }

  #readContext(end: number): void {
    const start = this.#at + CONTEXT_KEY.length;
    // Nothing in the text behind it can look like its key.
    const rawKey = this.line.lastIndexOf(RAW_KEY, end);
    const isNext = rawKey > start && this.line[rawKey - 1] === CLOSE_OBJECT && this.line[end - 2] === QUOTE;
    setSpan(this.context, start, isNext ? rawKey : this.#valueEnd(start));
    this.#at = this.context.end;
  }

  #has(text: Buffer): boolean {
    const line = this.line;
    for (let index = 1; index < text.length; index++) if (line[this.#at + index] !== text[index]) return false;
    return line[this.#at] === COMMA;
  }

  #number(start: number, digits: Span): number {
    const line = this.line;
    const isNegative = line[start] === MINUS;
    let at = isNegative ? start + 1 : start;
    let value = 0;
    for (let digit = (line[at] as number) - ZERO; digit >= 0 && digit <= 9; digit = (line[++at] as number) - ZERO) {
      value = value * 10 + digit;
    }
    this.#at = at;
    setSpan(digits, start, at);
    return isNegative ? -value : value;
  }

  /** `head.length.offset.check.length.name`: the checksum is kept. */
  #readCursor(start: number): void {
    const line = this.line;
    let at = start;
    for (let dots = 0; dots < 3; at++) if (line[at] === DOT) dots++;
    let value = 0;
    for (; line[at] !== DOT; at++) {
      const byte = line[at] as number;
      value = value * 36 + (byte < 0x60 ? byte - ZERO : byte - 0x57);
    }
    this.check = value;
    this.#at = line.indexOf(QUOTE, at) + 1;
  }

  /** Behind the string that starts at the position. */
  #stringEnd(start = this.#at): number {
    const line = this.line;
    for (let at = line.indexOf(QUOTE, start + 1); ; at = line.indexOf(QUOTE, at + 1)) {
      if (at < 0) throw new TypeError('the line of a record is incomplete');
      let before = at - 1;
      while (line[before] === BACKSLASH) before--;
      if ((at - before) % 2 === 1) return at + 1;
    }
  }

  /** Behind an object. */
  #valueEnd(start: number): number {
    const line = this.line;
    let depth = 0;
    for (let at = start; at < line.length; ) {
      const byte = line[at];
      if (byte === QUOTE) {
        at = this.#stringEnd(at);
        continue;
      }
      at++;
      if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
      else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --depth === 0) return at;
    }
    throw new TypeError('the line of a record is incomplete');
  }
}

function setSpan(target: Span, at: number, end: number): void {
  target.at = at;
  target.end = end;
}
