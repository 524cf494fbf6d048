/** Nested escapes: a URL in JSON in JSON has three levels. */
export const MAX_DEPTH = 3;

/** No encoder writes more bytes for one. A longer form of a secret is not recognised. */
export const MAX_BYTES_PER_BYTE = 12;

const PERCENT = 0x25;
const AMPERSAND = 0x26;
const PLUS = 0x2b;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/** Characters that begin an escape sequence, or stand for another one (`+` for a space). */
export const INTRODUCERS: readonly number[] = [PERCENT, AMPERSAND, PLUS, BACKSLASH];

/** Longest entity name, including its `;`. */
const MAX_ENTITY_SIGNS = 9;

const ENTITIES: Readonly<Record<string, number>> = { amp: 38, lt: 60, gt: 62, quot: 34, apos: 39 };

const ENTITY_START = /^(?:#(?:x[0-9a-fA-F]{0,6}|\d{0,7})|am?p?|lt?|gt?|q(?:uo?t?)?|apo?s?)$/;

/** The meaning of a letter after a backslash. */
export const LETTER_ESCAPES: ReadonlyMap<number, number> = new Map(
  Object.entries({ a: 7, b: 8, e: 27, f: 12, n: 10, r: 13, t: 9, v: 11 }).map(([letter, code]) => [
    letter.charCodeAt(0),
    code,
  ]),
);

/** `open`: the text ends within it. */
type Outcome = 'read' | 'open' | 'none';

interface DigitOptions {
  digits: number;
  base?: number;
  mayBeWide?: boolean;
}

/**
 * Decodes one character of an escaped text: `%2F`, `\/`, `\u002f`, `\x2F`, `\057`, `&#47;` and `/` are the same, at any
 * of a few levels. Results are fields, because this runs for every character that may be part of a secret.
 */
export class EscapeReader {
  /** A byte; if `isWide`, a UTF-16 unit or a code point. */
  code = 0;
  isWide = false;
  /** `\xE4` is a byte to some programs and a character to others. */
  isEither = false;
  /** The position after what was read. */
  end = 0;
  readonly #bytes: Uint8Array;
  readonly #limit: number;

  constructor(bytes: Uint8Array, limit = bytes.length) {
    this.#bytes = bytes;
    this.#limit = limit;
  }

  /**
   * Reads the character at a position, with `depth` levels of escapes decoded. `false` if the text ends within it, so
   * that its meaning is unknown.
   */
  read(at: number, depth: number): boolean {
    if (depth === 0) {
      this.isWide = false;
      this.isEither = false;
      this.code = this.#bytes[at] ?? 0;
      this.end = at + 1;
      return at < this.#limit;
    }
    if (!this.read(at, depth - 1)) return false;
    if (this.isWide || !isIntroducer(this.code)) return true;
    const { code, end } = this;
    const isKnown = this.#readEscape(code, end, depth - 1);
    if (isKnown !== 'none') return isKnown === 'read';
    this.#set(code, end);
    return true;
  }

  #readEscape(introducer: number, at: number, depth: number): Outcome {
    if (introducer === PLUS) return this.#set(SPACE, at);
    if (introducer === BACKSLASH) return this.#readBackslash(at, depth);
    if (introducer === AMPERSAND) return this.#readEntity(at);
    if (at >= this.#limit) return 'open';
    if (this.#bytes[at] === 0x75) return this.#readDigits(at + 1, { digits: 4, mayBeWide: true });
    return this.#readDigits(at, { digits: 2 });
  }

  #readBackslash(at: number, depth: number): Outcome {
    if (at >= this.#limit) return 'open';
    const raw = this.#bytes[at] ?? 0;
    if (raw === 0x75) return this.#readDigits(at + 1, { digits: 4, mayBeWide: true });
    if (raw === 0x55) return this.#readDigits(at + 1, { digits: 8, mayBeWide: true });
    if (raw === 0x78) {
      const outcome = this.#readDigits(at + 1, { digits: 2 });
      this.isEither = outcome === 'read';
      return outcome;
    }
    if (raw >= 0x30 && raw <= 0x33) return this.#readDigits(at, { digits: 3, base: 8 });
    const letter = LETTER_ESCAPES.get(raw);
    if (letter !== undefined) return this.#set(letter, at + 1);
    // Shells and databases put a backslash before any character that is special to them. The character may be escaped
    // by an outer level; letters and digits are not.
    if (!this.read(at, depth)) return 'open';
    const { code, end, isWide } = this;
    return !isWide && code >= SPACE && code < 0x7f && !isWord(code) ? this.#set(code, end) : 'none';
  }

  #readEntity(at: number): Outcome {
    let name = '';
    for (let position = at; position < at + MAX_ENTITY_SIGNS; position++) {
      if (position >= this.#limit) return 'open';
      const sign = String.fromCharCode(this.#bytes[position] ?? 0);
      if (sign === ';') return this.#setEntity(name, position + 1);
      name += sign;
      if (!ENTITY_START.test(name)) return 'none';
    }
    return 'none';
  }

  #setEntity(name: string, end: number): Outcome {
    const number = /^#(?:x([0-9a-fA-F]+)|(\d+))$/.exec(name);
    const code = number ? Number.parseInt(number[1] ?? number[2] ?? '', number[1] ? 16 : 10) : ENTITIES[name];
    if (code === undefined || code > 0x10_ffff) return 'none';
    this.#set(code, end);
    this.isWide = code >= 0x80;
    return 'read';
  }

  #readDigits(at: number, { digits, base = 16, mayBeWide = false }: DigitOptions): Outcome {
    let value = 0;
    for (let position = at; position < at + digits; position++) {
      if (position >= this.#limit) return 'open';
      const digit = hexDigit(this.#bytes[position] ?? 0);
      if (digit < 0 || digit >= base) return 'none';
      value = value * base + digit;
    }
    if (value > 0x10_ffff) return 'none';
    this.#set(value, at + digits);
    this.isWide = mayBeWide && value >= 0x80;
    return 'read';
  }

  #set(code: number, end: number): 'read' {
    this.code = code;
    this.end = end;
    this.isWide = false;
    this.isEither = false;
    return 'read';
  }
}

export function isIntroducer(code: number): boolean {
  return code === BACKSLASH || code === PERCENT || code === AMPERSAND || code === PLUS;
}

function isWord(code: number): boolean {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
