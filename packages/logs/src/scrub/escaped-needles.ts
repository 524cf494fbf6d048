import { firstSpot, hasPair, pairAtSpot, unpackSpot } from './escape-index.ts';
import { EscapeReader, isIntroducer, MAX_BYTES_PER_BYTE, MAX_DEPTH } from './escape-reader.ts';
import { MAX_NEEDLE_BYTES, type NeedleTable } from './needle-table.ts';
import type { Ranges } from './ranges.ts';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** For a secret whose beginning was cut off: anything shorter reveals next to nothing. */
const MIN_CUT_BYTES = 3;

/** A needle matched up to `position`, in the text up to `at`. */
interface Branch {
  position: number;
  at: number;
}

/**
 * Steps for a text, in addition to some for each of its bytes: many times what a text full of escaped secrets takes. A
 * secret that consists of escapes, in a text that repeats it, could be parsed in so many ways that it would take
 * minutes.
 */
const MIN_STEPS = 262_144;
const STEPS_PER_BYTE = 16;

/** Finds needles with characters written as escapes, in any mixture, in one text. */
export class EscapedNeedles {
  readonly #table: NeedleTable;
  readonly #bytes: Buffer;
  readonly #reader: EscapeReader;
  /** Where the last match ends, and whether the text ends before the needle does. */
  #matchEnd = -1;
  #isOpen = false;
  #stepsLeft: number;
  /** Alternatives still to be tried: pairs of how much of the needle was matched, and up to where in the text. */
  readonly #open: number[] = [];

  constructor(table: NeedleTable, bytes: Buffer) {
    this.#table = table;
    this.#bytes = bytes;
    this.#reader = new EscapeReader(bytes);
    this.#stepsLeft = MIN_STEPS + STEPS_PER_BYTE * bytes.length;
  }

  /** The text was not searched to the end: the rest may contain anything. */
  get isAborted(): boolean {
    return this.#stepsLeft <= 0;
  }

  /** Adds all needles whose first escape is at this position. */
  findAt(at: number, found: Ranges): void {
    const before = at > 0 ? (this.#bytes[at - 1] ?? 0) : -1;
    for (const first of this.#firstBytes(at)) {
      if (first === NOT_KNOWN) continue;
      this.#findFirst(first, at, found);
      if (before >= 0) this.#findInside((before << 8) | first, at, found);
    }
  }

  /** Whether the text ends with the beginning, not the whole, of a needle that starts at this position. */
  isOpenAt(at: number): boolean {
    const raw = this.#bytes[at] ?? 0;
    const firsts = isIntroducer(raw) ? [raw, ...this.#firstBytes(at)] : [raw];
    if (firsts.includes(NOT_KNOWN)) return true;
    const { byFirst } = this.#table;
    return firsts.some((first) => {
      for (let needle = byFirst[first] ?? 0; needle < (byFirst[first + 1] ?? 0); needle++) {
        this.#match(needle, 0, at);
        if (this.#isOpen) return true;
      }
      return false;
    });
  }

  /**
   * The maximum number of bytes at the start of the text that are the end, not the whole, of a needle whose beginning
   * was cut off. It may have been cut within an escape.
   */
  cutBytes(): number {
    const { starts } = this.#table;
    let longest = 0;
    for (let needle = 0; needle + 1 < starts.length; needle++) {
      const length = (starts[needle + 1] ?? 0) - (starts[needle] ?? 0);
      for (let position = 1; position <= length - MIN_CUT_BYTES; position++) {
        for (let at = 0; at < MAX_BYTES_PER_BYTE; at++) {
          if (at > 0 && !isEscapeRest(this.#bytes[at - 1] ?? 0)) break;
          this.#match(needle, position, at);
          longest = Math.max(longest, this.#matchEnd);
        }
      }
    }
    return longest;
  }

  #findFirst(first: number, at: number, found: Ranges): void {
    const { byFirst } = this.#table;
    for (let needle = byFirst[first] ?? 0; needle < (byFirst[first + 1] ?? 0); needle++) {
      this.#match(needle, 0, at);
      if (this.#matchEnd >= 0) found.add(at, this.#matchEnd);
    }
  }

  #findInside(pair: number, at: number, found: Ranges): void {
    const table = this.#table;
    if (!hasPair(table, pair)) return;
    for (let index = firstSpot(table, pair); index < table.spots.length; index++) {
      const spot = table.spots[index] ?? 0;
      if (pairAtSpot(table, spot) !== pair) return;
      const { needle, position } = unpackSpot(spot);
      const start = at - position;
      if (start < 0 || !this.#isPlain(needle, position, start)) continue;
      this.#match(needle, position, at);
      if (this.#matchEnd >= 0) found.add(start, this.#matchEnd);
    }
  }

  /** The possible first bytes of the character at a position; `NOT_KNOWN` if the text ends within it. */
  #firstBytes(at: number): number[] {
    const firsts: number[] = [];
    const reader = this.#reader;
    for (let depth = 1; depth <= MAX_DEPTH; depth++) {
      if (!reader.read(at, depth)) {
        firsts.push(NOT_KNOWN);
        break;
      }
      if (reader.end === at + 1 && reader.code === this.#bytes[at]) continue;
      const { code, isWide, isEither } = reader;
      const ways = isWide ? [leadByte(code)] : isEither && code >= 0x80 ? [code, leadByte(code)] : [code];
      for (const byte of ways) if (!firsts.includes(byte)) firsts.push(byte);
      if (isWide || !isIntroducer(code)) break;
    }
    return firsts;
  }

  /** Whether the needle's first bytes occur there literally. */
  #isPlain(needle: number, length: number, start: number): boolean {
    const { starts, bytes } = this.#table;
    const from = starts[needle] ?? 0;
    for (let index = length - 1; index >= 0; index--) {
      const byte = bytes[from + index] ?? 0;
      if (byte !== this.#bytes[start + index] || byte === LINE_FEED || byte === CARRIAGE_RETURN) return false;
    }
    return true;
  }

  /** Matches the rest of a needle. If a character is ambiguous, each meaning is tried: the longest match counts. */
  #match(needle: number, from: number, textFrom: number): void {
    const { starts, bytes: needles } = this.#table;
    const bytes = this.#bytes;
    const start = starts[needle] ?? 0;
    const length = (starts[needle + 1] ?? 0) - start;
    const limit = textFrom - from + length * MAX_BYTES_PER_BYTE;
    const open = this.#open;
    this.#matchEnd = -1;
    this.#isOpen = false;
    open.length = 0;
    open.push(from, textFrom);
    /** Created when there is more than one alternative: a text must not make us try each of very many. */
    let seen: Set<number> | undefined;
    while (open.length > 0 && this.#stepsLeft > 0) {
      this.#stepsLeft--;
      let at = open.pop() ?? 0;
      let position = open.pop() ?? 0;
      while (position < length && at < bytes.length && isPlainMatch(bytes[at], needles[start + position])) {
        position++;
        at++;
      }
      if (at > limit) continue;
      if (position === length) this.#matchEnd = Math.max(this.#matchEnd, at);
      else if (at >= bytes.length) this.#isOpen ||= at < limit;
      else if (isIntroducer(bytes[at] ?? 0)) {
        if (open.length > 0) seen ??= new Set();
        const key = (at - textFrom) * MAX_NEEDLE_BYTES + position;
        if (seen?.has(key)) continue;
        seen?.add(key);
        this.#readOn(start, { position, at, length });
      }
    }
  }

  /** Adds each continuation after the character at `at`, which may begin an escape. */
  #readOn(start: number, { position, at, length }: Branch & { length: number }): void {
    const { bytes: needles } = this.#table;
    const reader = this.#reader;
    const raw = this.#bytes[at] ?? 0;
    const wanted = needles[start + position];
    if (raw === wanted) this.#open.push(position + 1, at + 1);
    for (let depth = 1; depth <= MAX_DEPTH; depth++) {
      if (!reader.read(at, depth)) {
        this.#isOpen = true;
        return;
      }
      const { code, end, isWide, isEither } = reader;
      if (end === at + 1 && code === raw) continue;
      if (!isWide && code === wanted) this.#open.push(position + 1, end);
      if (isWide || (isEither && code >= 0x80)) this.#readWide(start, { position, length, depth });
      if (isWide || !isIntroducer(code)) return;
    }
  }

  /** Continues after a character beyond ASCII that was just read, whose second surrogate may follow. */
  #readWide(start: number, { position, length, depth }: { position: number; length: number; depth: number }): void {
    const reader = this.#reader;
    let { code } = reader;
    if (code >= 0xd800 && code <= 0xdbff) {
      if (!reader.read(reader.end, depth)) this.#isOpen = true;
      if (!reader.isWide || reader.code < 0xdc00 || reader.code > 0xdfff) return;
      code = 0x1_0000 + ((code - 0xd800) << 10) + (reader.code - 0xdc00);
    }
    const { end } = reader;
    const character = Buffer.from(String.fromCodePoint(code));
    const { bytes: needles } = this.#table;
    const isEqual = character.every((byte, index) => byte === needles[start + position + index]);
    if (isEqual && position + character.length <= length) this.#open.push(position + character.length, end);
  }
}

/** Whether an escape may end with this byte. */
function isEscapeRest(byte: number): boolean {
  return /[0-9a-fA-Fux;#/]/.test(String.fromCharCode(byte));
}

/** Introducers are left to the escape reader; line ends are never masked. */
function isPlainMatch(byte: number | undefined, wanted: number | undefined): boolean {
  return byte === wanted && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && !isIntroducer(byte ?? 0);
}

/** The first byte of a character in UTF-8; for the first half of a surrogate pair, that of the pair. */
function leadByte(code: number): number {
  if (code >= 0xd800 && code <= 0xdbff) return 0xf0 | ((0x1_0000 + ((code - 0xd800) << 10)) >> 18);
  if (code >= 0x1_0000) return 0xf0 | (code >> 18);
  if (code >= 0x800) return 0xe0 | (code >> 12);
  return 0xc0 | (code >> 6);
}

/** The text ends within an escape, so that its meaning is unknown. */
const NOT_KNOWN = 256;
