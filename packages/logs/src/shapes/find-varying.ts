import { isRoute } from './message-shape.ts';

/**
 * So many words at one position are values, not kinds of messages: fewer are enough where more of the rest is the same.
 * By the number of words that are constant, without the position itself.
 */
const MIN_VALUES = [Infinity, 16, 8];
const MIN_VALUES_ELSE = 5;

/** Words further behind are not looked at: it bounds the time for many long messages. */
const MAX_POSITIONS = 24;

/** Where a word may be cut to keep what all values have in common: `rhost=*`, `[client *]`. */
const OPENING = /^.*[=:([{<]/;
const CLOSING = /[,;:.!?)\]}>]*$/;

/** Rows are different, sorted and have the same number of words. Returns the rows that change, with their new words. */
export function findVarying(rows: readonly string[][]): Map<number, string[]> {
  const changed = new Map<number, string[]>();
  for (const { at, members } of findBuckets(rows)) {
    const word = commonFrame(members.map((row) => rows[row]?.[at] ?? ''));
    for (const row of members) {
      const words = changed.get(row) ?? [...(rows[row] ?? [])];
      words[at] = word;
      changed.set(row, words);
    }
  }
  return changed;
}

/** Rows that differ in one position only. */
interface Bucket {
  at: number;
  members: number[];
}

function findBuckets(rows: readonly string[][]): Bucket[] {
  const hashes = rows.map((words) => words.map(hashWord));
  const sizes = new Map<number, number>();
  eachKey(rows, hashes, (key) => sizes.set(key, (sizes.get(key) ?? 0) + 1));
  const buckets = new Map<number, Bucket>();
  eachKey(rows, hashes, (key, row, at) => {
    if ((sizes.get(key) ?? 0) < MIN_VALUES_ELSE) return;
    const bucket = buckets.get(key);
    if (!bucket) buckets.set(key, { at, members: [row] });
    // Keys are hashes: those that are equal by chance differ here.
    else if (bucket.at === at && differOnlyAt(rows[bucket.members[0] ?? 0] ?? [], rows[row] ?? [], at))
      bucket.members.push(row);
  });
  return [...buckets.values()].filter(({ at, members }) => {
    const constants = countConstants(rows[members[0] ?? 0] ?? [], at);
    return members.length >= (MIN_VALUES[constants] ?? MIN_VALUES_ELSE);
  });
}

/** A key for each row without one of its words. */
function eachKey(
  rows: readonly string[][],
  hashes: readonly number[][],
  use: (key: number, row: number, at: number) => void,
): void {
  for (const [row, words] of rows.entries()) {
    const own = hashes[row] ?? [];
    let sum = 0;
    for (const [at, hash] of own.entries()) sum = (sum + spread(hash, at)) % MODULUS;
    for (const [at, word] of words.slice(0, MAX_POSITIONS).entries()) {
      if (!isValue(word) || isRoute(words, at)) continue;
      use((sum + MODULUS - spread(own[at] ?? 0, at)) % MODULUS, row, at);
    }
  }
}

/** Sums of two stay exact. */
const MODULUS = 2 ** 52;

function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** The hash of a word at a position, as an integer below the modulus. */
function spread(hash: number, at: number): number {
  const high = Math.imul(hash ^ (at * 0x9e3779b1), 0x85ebca6b) & 0xfffff;
  const low = Math.imul(hash + at * 0x27d4eb2f, 0xc2b2ae35) >>> 0;
  return (high * 0x100000000 + low) % MODULUS;
}

/** What can be one of many values: anything with a letter that is not variable already. */
function isValue(word: string): boolean {
  return !word.includes('*') && /[\p{L}\d]/u.test(word);
}

function countConstants(words: readonly string[], except: number): number {
  return words.filter((word, at) => at !== except && isValue(word)).length;
}

function differOnlyAt(a: readonly string[], b: readonly string[], except: number): boolean {
  return a.every((word, at) => at === except || word === b[at]);
}

/** `*` within what all words begin and end with. */
function commonFrame(words: readonly string[]): string {
  const [first = ''] = words;
  const shortest = Math.min(...words.map(({ length }) => length));
  const openings = new Set(words.map((word) => OPENING.exec(word)?.[0] ?? ''));
  const closings = new Set(words.map((word) => CLOSING.exec(word)?.[0] ?? ''));
  const opening = openings.size === 1 ? (OPENING.exec(first)?.[0] ?? '') : '';
  const closing = closings.size === 1 ? (CLOSING.exec(first)?.[0] ?? '') : '';
  return opening.length + closing.length <= shortest ? `${opening}*${closing}` : '*';
}
