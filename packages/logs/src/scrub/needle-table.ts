import type { GramTables } from '../kernel/gram-kernel.ts';
import { byteRarity } from '../kernel/scan-kernel.ts';
import { buildEscapeIndex, type EscapeIndex, holdsLineEnd } from './escape-index.ts';

/**
 * Grams of three bytes are looked up: with two, ordinary text would hit too often; with four, steps would be shorter.
 */
export const GRAM_BYTES = 3;

/** One byte for each hash; the table must stay in the cache while text is scanned. */
const GRAM_HASHES = 65_536;

/** Longer steps are hardly faster, and every needle then has more grams that ordinary text may hit. */
const MAX_STEP = 32;

/** As in `kernel/scrub/find-grams.ts`: shifted by a byte, because it loads four. */
const MULTIPLIER = 0x3779b100;
const TAG_MULTIPLIER = 0xebca6b00;

/** Needle number, position of the gram in it, and whether more follow for the same gram. */
export const CANDIDATE_INTS = 3;

/**
 * Finds many texts in one pass. For every needle a window is chosen, as long as the shortest needle. Grams are looked
 * up only at every `step`th position: wherever a needle occurs literally, one of the first grams of its window is hit.
 * If it contains escapes, the first of them is found and looked up by its meaning. All of it is in shared memory, used
 * by threads without copies.
 */
export interface NeedleTable extends GramTables, EscapeIndex {
  /** Distance between lookups. */
  step: number;
  longest: number;
  /** Open addressing: a gram plus one, or 0, and its first candidate. */
  slots: Int32Array;
  candidates: Int32Array;
  /** Start of each needle in `bytes`; one more than there are needles. Sorted by first byte. */
  starts: Int32Array;
  bytes: Uint8Array;
  /** For each byte, the first needle that starts with it or a higher one; one more than there are bytes. */
  byFirst: Int32Array;
}

export function gramHash(gram: number): number {
  return Math.imul(gram, MULTIPLIER) >>> 16;
}

function gramTag(gram: number): number {
  return Math.imul(gram, TAG_MULTIPLIER) >>> 29;
}

/** At least one needle, all distinct, within the length limits of needles. */
export function buildNeedleTable(given: readonly Buffer[]): NeedleTable {
  const needles = [...given].sort((a, b) => Buffer.compare(a, b));
  const lengths = needles.map(({ length }) => length);
  // Lines of a log contain no line ends: a needle that does is only found where they are escaped.
  const plain = needles.filter((needle) => !holdsLineEnd(needle)).map(({ length }) => length);
  const shortest = Math.max(Math.min(MAX_NEEDLE_BYTES, ...plain), MIN_NEEDLE_BYTES);
  const step = Math.min(shortest - GRAM_BYTES + 1, MAX_STEP);
  const byGram = chooseGrams(needles, step);
  const grams = new Uint8Array(shared(GRAM_HASHES));
  const slots = new Int32Array(shared(8 * 2 ** Math.ceil(Math.log2(4 * Math.max(1, byGram.size)))));
  const candidates = new Int32Array(shared(4 * CANDIDATE_INTS * needles.length * step));
  let used = 0;
  for (const [gram, found] of byGram) {
    const hash = gramHash(gram);
    grams[hash] = (grams[hash] ?? 0) | (1 << gramTag(gram));
    insert(slots, gram, used);
    found.forEach(({ needle, offset }, index) => {
      candidates.set([needle, offset, index + 1 < found.length ? 1 : 0], used);
      used += CANDIDATE_INTS;
    });
  }
  const bytes = new Uint8Array(shared(lengths.reduce((sum, length) => sum + length, 0)));
  const starts = new Int32Array(shared(4 * (needles.length + 1)));
  needles.forEach((needle, index) => {
    bytes.set(needle, starts[index] ?? 0);
    starts[index + 1] = (starts[index] ?? 0) + needle.length;
  });
  const longest = Math.max(...lengths);
  const index = buildEscapeIndex(needles, { starts, bytes });
  return { step, longest, grams, slots, candidates, starts, bytes, byFirst: needlesByFirst(needles), ...index };
}

type ByGram = Map<number, { needle: number; offset: number }[]>;

/** The window of a needle is where it has the least in common with the others, then with ordinary text. */
function chooseGrams(needles: readonly Buffer[], step: number): ByGram {
  const byGram: ByGram = new Map();
  for (const [needle, bytes] of needles.entries()) {
    if (holdsLineEnd(bytes)) continue;
    let best = { start: 0, cost: Infinity };
    for (let start = 0; start + step + GRAM_BYTES - 1 <= bytes.length; start++) {
      let cost = 0;
      for (let offset = start; offset < start + step; offset++) {
        cost +=
          MAX_NEEDLE_BYTES * 1000 * (byGram.get(gramAt(bytes, offset))?.length ?? 0) - byteRarity(bytes[offset] ?? 0);
      }
      if (cost < best.cost) best = { start, cost };
    }
    for (let offset = best.start; offset < best.start + step; offset++) {
      const gram = gramAt(bytes, offset);
      const found = byGram.get(gram) ?? [];
      found.push({ needle, offset });
      byGram.set(gram, found);
    }
  }
  return byGram;
}

function gramAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
}

function insert(slots: Int32Array, gram: number, candidate: number): void {
  const mask = slots.length / 2 - 1;
  let slot = gramHash(gram) & mask;
  while (slots[2 * slot] !== 0) slot = (slot + 1) & mask;
  slots[2 * slot] = gram + 1;
  slots[2 * slot + 1] = candidate;
}

function needlesByFirst(needles: readonly Buffer[]): Int32Array {
  const byFirst = new Int32Array(shared(4 * 257));
  let needle = 0;
  for (let byte = 0; byte <= 256; byte++) {
    while (needle < needles.length && (needles[needle]?.[0] ?? 0) < byte) needle++;
    byFirst[byte] = needle;
  }
  return byFirst;
}

function shared(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes);
}

/** Shorter texts occur in ordinary words: masking them would ruin the log and reveal more than it hides. */
export const MIN_NEEDLE_BYTES = 6;

/**
 * Longer forms are split into pieces, so that a token that was truncated when it was logged is masked as far as it
 * goes.
 */
export const MAX_NEEDLE_BYTES = 64;

/**
 * The texts by which a secret value is recognised in a log: literally, line by line if it has several, and as base64 of
 * a text that contains it. Each is also recognised with any of its characters escaped (`EscapedNeedles`); one with line
 * ends only that way. None is longer than `MAX_NEEDLE_BYTES`.
 */
export function needleForms(value: string): Buffer[] {
  if (Buffer.byteLength(value) < MIN_NEEDLE_BYTES) return [];
  const texts = new Set([value, ...splitLines(value), ...base64Forms(Buffer.from(value))]);
  return [...texts].flatMap((text) => splitPieces(Buffer.from(text)));
}

/**
 * The base64 form of a text depends on how many bytes precede it; characters that contain bits of those are left out.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const whole = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** A multi-line value is logged line by line. The first and last line are the same in every PEM text. */
function splitLines(text: string): string[] {
  if (!/[\r\n]/.test(text)) return [text];
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => !line.startsWith('-----'));
}

function splitPieces(bytes: Buffer): Buffer[] {
  if (bytes.length < MIN_NEEDLE_BYTES) return [];
  const pieces: Buffer[] = [];
  let start = 0;
  while (bytes.length - start > MAX_NEEDLE_BYTES) {
    const end = characterStart(bytes, start + MAX_NEEDLE_BYTES);
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  // The last one is about as long as the others: the remainder may be too short.
  const last = start > 0 ? Math.min(start, characterStart(bytes, bytes.length - MAX_NEEDLE_BYTES + 3)) : 0;
  pieces.push(bytes.subarray(last));
  return pieces;
}

/** At or before a position: an escape stands for a whole character. */
function characterStart(bytes: Buffer, position: number): number {
  let start = position;
  while (start > position - 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}
