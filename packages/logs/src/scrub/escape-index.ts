import { INTRODUCERS, LETTER_ESCAPES } from './escape-reader.ts';

/** A position in a needle, of fewer than 64 bytes, packed with the needle's number. */
const POSITION_BITS = 6;

const PAIRS = 65_536;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * Finds needles that contain escapes, starting at the first of them: what precedes it is literally as in the needle, so
 * the byte before it and the byte it stands for are looked up.
 */
export interface EscapeIndex {
  /** Indexed by the low four bits of a byte: the byte that begins an escape, or one that never equals it. */
  introducers: Uint8Array;
  /** Indexed by the byte after an introducer: a bit for each introducer it may follow within a needle. */
  follow: Uint8Array;
  /** A bit for each pair of bytes that occurs in some needle. */
  pairs: Uint8Array;
  /** By byte: whether a needle begins with it. */
  firsts: Uint8Array;
  /** All positions in needles but their first, sorted by the pair that ends there: see `unpackSpot`. */
  spots: Int32Array;
}

interface PackedNeedles {
  starts: Int32Array;
  bytes: Uint8Array;
}

export function buildEscapeIndex(needles: readonly Buffer[], packed: PackedNeedles): EscapeIndex {
  const used = new Set(needles.flatMap((needle) => [...needle]));
  const firsts = new Uint8Array(256);
  for (const [first = 0] of needles) firsts[first] = 1;
  return { introducers: introducerTable(used), follow: followTable(used), firsts, ...indexPairs(needles, packed) };
}

/** Counting sort: there may be half a million. */
function indexPairs(needles: readonly Buffer[], packed: PackedNeedles): Pick<EscapeIndex, 'pairs' | 'spots'> {
  const spots = new Int32Array(shared(4 * needles.reduce((sum, { length }) => sum + length - 1, 0)));
  const pairs = new Uint8Array(shared(PAIRS / 8));
  const ends = new Int32Array(PAIRS);
  const each = (visit: (pair: number, spot: number) => void) => {
    for (const [needle, { length }] of needles.entries()) {
      for (let position = 1; position < length; position++) {
        visit(pairAt(packed, needle, position), (needle << POSITION_BITS) | position);
      }
    }
  };
  each((pair) => {
    ends[pair] = (ends[pair] ?? 0) + 1;
    pairs[pair >> 3] = (pairs[pair >> 3] ?? 0) | (1 << (pair & 7));
  });
  let sum = 0;
  for (let pair = 0; pair < PAIRS; pair++) {
    const count = ends[pair] ?? 0;
    ends[pair] = sum;
    sum += count;
  }
  each((pair, spot) => {
    const at = ends[pair] ?? 0;
    spots[at] = spot;
    ends[pair] = at + 1;
  });
  return { pairs, spots };
}

export function hasPair({ pairs }: Pick<EscapeIndex, 'pairs'>, pair: number): boolean {
  return (((pairs[pair >> 3] ?? 0) >> (pair & 7)) & 1) === 1;
}

/** The first of the spots of a pair; they end where `pairOfSpot` differs. */
export function firstSpot(index: EscapeIndex & PackedNeedles, pair: number): number {
  let low = 0;
  let high = index.spots.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pairAtSpot(index, index.spots[middle] ?? 0) < pair) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function unpackSpot(spot: number): { needle: number; position: number } {
  return { needle: spot >> POSITION_BITS, position: spot & ((1 << POSITION_BITS) - 1) };
}

export function pairAtSpot(packed: PackedNeedles, spot: number): number {
  return pairAt(packed, spot >> POSITION_BITS, spot & ((1 << POSITION_BITS) - 1));
}

function pairAt({ starts, bytes }: PackedNeedles, needle: number, position: number): number {
  const at = (starts[needle] ?? 0) + position;
  return ((bytes[at - 1] ?? 0) << 8) | (bytes[at] ?? 0);
}

export function holdsLineEnd(bytes: Uint8Array): boolean {
  return bytes.includes(LINE_FEED) || bytes.includes(CARRIAGE_RETURN);
}

/** `+` matters only if a needle contains a space. */
function introducerTable(used: ReadonlySet<number>): Uint8Array {
  const table = new Uint8Array(16).map((_, low) => low ^ 1);
  for (const byte of INTRODUCERS) if (byte !== PLUS || used.has(SPACE)) table[byte & 15] = byte;
  return table;
}

const PLUS = 0x2b;
const SPACE = 0x20;

/**
 * Escapes that need no closer examination, above all most `\"` and `
 * ` of JSON, are skipped in the compiled loop.
 */
function followTable(used: ReadonlySet<number>): Uint8Array {
  const table = new Uint8Array(256);
  const allow = (introducer: string, byte: number) => {
    table[byte] = (table[byte] ?? 0) | (1 << (introducer.charCodeAt(0) & 7));
  };
  for (let byte = 0; byte < 256; byte++) {
    const sign = String.fromCharCode(byte);
    // What follows it may be escaped itself.
    if (INTRODUCERS.includes(byte)) allow('\\', byte);
    allow('+', byte);
    if (/[algq#]/.test(sign)) allow('&', byte);
    if (isHighDigit(sign, used) || sign === 'u') allow('%', byte);
    const letter = LETTER_ESCAPES.get(byte);
    const isUsed = letter === undefined ? used.has(byte) : used.has(letter);
    if (/[uUx0-3]/.test(sign) || (isUsed && (letter !== undefined || !/\w/.test(sign)))) allow('\\', byte);
  }
  return table;
}

/** The high digit of a byte in a needle, or of an introducer, which may be escaped itself. */
function isHighDigit(sign: string, used: ReadonlySet<number>): boolean {
  if (!/[0-9a-f]/i.test(sign)) return false;
  const high = Number.parseInt(sign, 16);
  return [...used, ...INTRODUCERS].some((byte) => byte >> 4 === high);
}

function shared(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes);
}
