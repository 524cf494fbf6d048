import { LEVELS } from '@porthole/contract';

/*
 * Recognizes lines of another node that can be passed on as they are: records as our nodes write them, with every field
 * known and valid, none of them twice, and no white space. What is not recognized is parsed, checked and written again.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const DOT = 0x2e;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** As `isFileName` and `isCursor` have it. Text has at least as many bytes in JSON as it has itself. */
const MAX_FILE_BYTES = 255;
const MAX_CURSOR_BYTES = 2048;

/** As deep as a context may be. */
const MAX_DEPTH = 250;

/** Integers with more digits may not be exact. */
const MAX_DIGITS = 15;

const ENCODER = new TextEncoder();

/** The fields in the order of our nodes, with their quotes and colon. `#readField` reads their values. */
const KEYS = [
  'type',
  'file',
  'offset',
  'bytes',
  'cursor',
  'timeMs',
  'level',
  'source',
  'tags',
  'message',
  'context',
  'cut',
  'continued',
  'raw',
  'fields',
].map((name) => ENCODER.encode(`"${name}":`));

/** Bits of the fields that every record has: type, file, offset, bytes, cursor and message. */
const REQUIRED = 0b10_0001_1111;

const RECORD = ENCODER.encode('"record"');
const TRUE = ENCODER.encode('true');
const FALSE = ENCODER.encode('false');
const NULL = ENCODER.encode('null');
const LEVEL_WORDS = LEVELS.map((level) => ENCODER.encode(JSON.stringify(level)));

/** Looks at one line at a time. */
export class PlainRecordScanner {
  #bytes: Uint8Array = new Uint8Array(0);
  #end = 0;

  /** Whether the bytes, without a newline, are a record that can be passed on as it is. */
  isPlain(bytes: Uint8Array, start: number, end: number): boolean {
    this.#bytes = bytes;
    this.#end = end;
    if (bytes[start] !== OPEN_OBJECT) return false;
    let seen = 0;
    let next = 0;
    for (let at = start + 1; ; ) {
      const index = this.#fieldAt(at, next);
      const bit = 1 << index;
      if (index < 0 || (seen & bit) !== 0) return false;
      seen |= bit;
      at = this.#readField(index, at + (KEYS[index] as Uint8Array).length);
      if (at < 0 || at >= end) return false;
      const after = bytes[at++];
      if (after === CLOSE_OBJECT) return at === end && (seen & REQUIRED) === REQUIRED;
      if (after !== COMMA) return false;
      next = index + 1;
    }
  }

  /** The index of the field that starts here, -1 if it is unknown; most often it is the next one. */
  #fieldAt(at: number, next: number): number {
    for (let index = next; index < KEYS.length; index++) if (this.#hasKey(at, index)) return index;
    for (let index = 0; index < next; index++) if (this.#hasKey(at, index)) return index;
    return -1;
  }

  #hasKey(at: number, index: number): boolean {
    const key = KEYS[index] as Uint8Array;
    return this.#bytes[at + 1] === key[1] && this.#readWord(at, key) > 0;
  }

  /** The position after the value of this field, -1 if it is not valid. */
  #readField(index: number, at: number): number {
    switch (index) {
      case 0:
        return this.#readWord(at, RECORD);
      case 1:
        return this.#readShort(at, MAX_FILE_BYTES);
      case 2:
      case 3:
        return this.#readCount(at);
      case 4:
        return this.#readShort(at, MAX_CURSOR_BYTES);
      case 5:
        return this.#readNumber(at);
      case 6:
        return this.#readLevel(at);
      case 8:
        return this.#readTags(at);
      case 10:
        return this.#bytes[at] === OPEN_OBJECT ? this.#readValue(at, MAX_DEPTH) : -1;
      case 11:
      case 12:
        return this.#readWord(at, TRUE);
      case 14:
        return this.#readFields(at);
      default:
        return this.#readString(at);
    }
  }

  /** Exactly these bytes. */
  #readWord(at: number, word: Uint8Array): number {
    if (at + word.length > this.#end) return -1;
    for (let index = 0; index < word.length; index++) if (this.#bytes[at + index] !== word[index]) return -1;
    return at + word.length;
  }

  #readShort(at: number, maxBytes: number): number {
    const end = this.#readString(at);
    return end - at > maxBytes + 2 ? -1 : end;
  }

  #readLevel(at: number): number {
    for (const word of LEVEL_WORDS) {
      const end = this.#readWord(at, word);
      if (end > 0) return end;
    }
    return -1;
  }

  /** Digits, few enough to be exact. */
  #readCount(at: number): number {
    const end = this.#skipDigits(at);
    const hasZero = this.#bytes[at] === 0x30 && end > at + 1;
    return end === at || end - at > MAX_DIGITS || hasZero ? -1 : end;
  }

  /** With its quotes. */
  #readString(start: number): number {
    const bytes = this.#bytes;
    const end = this.#end;
    if (bytes[start] !== QUOTE) return -1;
    for (let at = start + 1; at < end; at++) {
      const byte = bytes[at] as number;
      if (IS_SPECIAL[byte] === 0) continue;
      if (byte === QUOTE) return at + 1;
      if (byte !== BACKSLASH) return -1;
      at = this.#readEscape(at + 1);
      if (at < 0) return -1;
    }
    return -1;
  }

  /** The position of its last character. */
  #readEscape(at: number): number {
    const bytes = this.#bytes;
    if (bytes[at] !== 0x75) return ESCAPES.has(bytes[at] as number) ? at : -1;
    for (let digit = at + 1; digit <= at + 4; digit++) if (!isHex(bytes[digit] as number)) return -1;
    return at + 4;
  }

  #readTags(start: number): number {
    const bytes = this.#bytes;
    if (bytes[start] !== OPEN_LIST) return -1;
    if (bytes[start + 1] === CLOSE_LIST) return start + 2;
    for (let at = start; ; ) {
      at = this.#readString(at + 1);
      if (at < 0 || at >= this.#end) return -1;
      if (bytes[at] === CLOSE_LIST) return at + 1;
      if (bytes[at] !== COMMA) return -1;
    }
  }

  /** Scalars, and lists of them. */
  #readFields(start: number): number {
    const bytes = this.#bytes;
    if (bytes[start] !== OPEN_OBJECT) return -1;
    if (bytes[start + 1] === CLOSE_OBJECT) return start + 2;
    for (let at = start; ; ) {
      at = this.#readKey(at + 1);
      if (at < 0) return -1;
      at = bytes[at] === OPEN_LIST ? this.#readValue(at, 1) : this.#readScalar(at);
      if (at < 0 || at >= this.#end) return -1;
      if (bytes[at] === CLOSE_OBJECT) return at + 1;
      if (bytes[at] !== COMMA) return -1;
    }
  }

  #readValue(start: number, left: number): number {
    const bytes = this.#bytes;
    const open = bytes[start];
    if (open !== OPEN_OBJECT && open !== OPEN_LIST) return this.#readScalar(start);
    if (left === 0) return -1;
    const close = open === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_LIST;
    if (bytes[start + 1] === close) return start + 2;
    for (let at = start; ; ) {
      at = open === OPEN_OBJECT ? this.#readKey(at + 1) : at + 1;
      if (at < 0) return -1;
      at = this.#readValue(at, left - 1);
      if (at < 0 || at >= this.#end) return -1;
      if (bytes[at] === close) return at + 1;
      if (bytes[at] !== COMMA) return -1;
    }
  }

  /** With its colon. */
  #readKey(start: number): number {
    const at = this.#readString(start);
    return at >= 0 && this.#bytes[at] === COLON ? at + 1 : -1;
  }

  #readScalar(at: number): number {
    switch (this.#bytes[at]) {
      case QUOTE:
        return this.#readString(at);
      case 0x74:
        return this.#readWord(at, TRUE);
      case 0x66:
        return this.#readWord(at, FALSE);
      case 0x6e:
        return this.#readWord(at, NULL);
      default:
        return this.#readNumber(at);
    }
  }

  /** As `JSON.stringify` writes it, without an exponent. */
  #readNumber(start: number): number {
    const from = this.#bytes[start] === MINUS ? start + 1 : start;
    const end = this.#readCount(from);
    if (end < 0 || this.#bytes[end] !== DOT) return end;
    const fractionEnd = this.#skipDigits(end + 1);
    return fractionEnd === end + 1 ? -1 : fractionEnd;
  }

  #skipDigits(start: number): number {
    let at = start;
    while (at < this.#end && isDigit(this.#bytes[at] as number)) at++;
    return at;
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x61 && byte <= 0x66) || (byte >= 0x41 && byte <= 0x46);
}

const ESCAPES: ReadonlySet<number> = new Set(ENCODER.encode('"\\/bfnrt'));

/** Bytes that are not just part of a string: a quote, a backslash, and control characters, which JSON escapes. */
const IS_SPECIAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? 1 : 0,
);
