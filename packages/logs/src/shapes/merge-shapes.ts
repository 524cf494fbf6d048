import { isRoute } from '../query/message-shape.ts';

/** What is merged in one round can make more alike in the next; real logs need two or three. */
const MAX_ROUNDS = 5;

/** Further shapes, and longer ones than `messageShape` returns, stay as they are: members of a cluster may send any. */
const MAX_SHAPES = 25_000;
const MAX_CHARACTERS = 2000;

/**
 * Finds what varies by position: where otherwise equal shapes have many words at one position, it becomes `*`, and a shape
 * that a more general one covers is merged into it. Returns the merged shapes by those given.
 *
 * The result depends only on the set of shapes, not on their order or number; that is why the groups of threads, files and
 * members can be merged by it. Given merged shapes, it merges those that are alike.
 */
export function mergeShapes(shapes: Iterable<string>): Map<string, string> {
  const byLength = new Map<number, string[]>();
  for (const shape of selectShapes(shapes)) {
    const words = wordCount(shape);
    const known = byLength.get(words);
    if (known) known.push(shape);
    else byLength.set(words, [shape]);
  }
  const merged = new Map<string, string>();
  for (const alike of byLength.values()) {
    for (const [shape, target] of mergeAlike(alike)) merged.set(shape, target);
  }
  return merged;
}

function selectShapes(shapes: Iterable<string>): Iterable<string> {
  const unique = new Set([...shapes].filter(({ length }) => length <= MAX_CHARACTERS));
  return unique.size <= MAX_SHAPES ? unique : [...unique].sort().slice(0, MAX_SHAPES);
}

/** Shapes with the same number of words. */
function mergeAlike(shapes: readonly string[]): Map<string, string> {
  const merged = new Map(shapes.map((shape) => [shape, shape]));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const changes = [absorbShapes, findVarying].map((step) => apply(merged, step));
    if (!changes.includes(true)) break;
  }
  return merged;
}

/** Replaces the shapes that a step changes; whether there were any. */
function apply(merged: Map<string, string>, step: (rows: readonly string[][]) => Map<number, string[]>): boolean {
  const current = [...new Set(merged.values())].sort();
  if (current.length < 2) return false;
  const changed = step(current.map((shape) => shape.split(' ')));
  if (changed.size === 0) return false;
  const targets = new Map([...changed].map(([row, words]) => [current[row], words.join(' ')]));
  for (const [shape, now] of merged) merged.set(shape, targets.get(now) ?? now);
  return true;
}

function wordCount(shape: string): number {
  let count = 1;
  for (let at = shape.indexOf(' '); at >= 0; at = shape.indexOf(' ', at + 1)) count++;
  return count;
}

/** Comparisons of two shapes in one call: many shapes with the same first word could need their square. */
const MAX_COMPARISONS = 2_000_000;

/**
 * Finds for each row a more general one that covers it: equal words, or a variable where it has a value. Rows are different,
 * sorted and have the same number of words. Returns the rows that change, with their new words.
 */
function absorbShapes(rows: readonly string[][]): Map<number, string[]> {
  const generals = indexGenerals(rows);
  const changed = new Map<number, string[]>();
  let comparisons = 0;
  for (const [row, words] of rows.entries()) {
    let best = 0;
    for (const general of [...(generals.byFirst.get(words[0] ?? '') ?? []), ...generals.variable]) {
      if (++comparisons > MAX_COMPARISONS) return changed;
      const constants = general === words ? 0 : countCovered(general, words);
      if (constants <= best) continue;
      best = constants;
      changed.set(row, general);
    }
  }
  return changed;
}

/** Rows with a variable, by their first word. */
interface Generals {
  byFirst: Map<string, string[][]>;
  /** Those whose first word is variable. */
  variable: string[][];
}

function indexGenerals(rows: readonly string[][]): Generals {
  const generals: Generals = { byFirst: new Map(), variable: [] };
  for (const words of rows) {
    const [first = ''] = words;
    if (first.includes('*')) {
      generals.variable.push(words);
    } else if (words.some((word) => word.includes('*'))) {
      const known = generals.byFirst.get(first);
      if (known) known.push(words);
      else generals.byFirst.set(first, [words]);
    }
  }
  return generals;
}

/** How many constant words two rows share if the general one covers the other; 0 if it does not, or they share too few. */
function countCovered(general: readonly string[], words: readonly string[]): number {
  let constants = 0;
  let covered = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const pattern = general[at] ?? '';
    if (word !== pattern) {
      if (!covers(pattern, word)) return 0;
      covered++;
    } else if (/\p{L}/u.test(word)) {
      constants++;
    }
  }
  return constants >= covered ? constants : 0;
}

/** Whether the word is a value of the pattern's one variable. A row of asterisks or dashes is none. */
function covers(pattern: string, word: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0 || pattern.includes('*', star + 1)) return false;
  const tailLength = pattern.length - star - 1;
  if (word.length < star + tailLength) return false;
  if (!word.startsWith(pattern.slice(0, star)) || !word.endsWith(pattern.slice(star + 1))) return false;
  const value = word.slice(star, word.length - tailLength);
  return value === '' ? star > 0 : /[\p{L}\d]/u.test(value);
}

/**
 * So many words at one position are values, not kinds of messages: fewer are enough where more of the rest is the same.
 * By the number of words that are constant, without the position itself.
 */
const MIN_VALUES = [Infinity, 16, 8];
const MIN_VALUES_ELSE = 5;

/** Later words are not compared: it bounds the time for many long messages. */
const MAX_POSITIONS = 24;

/** Where a word may be cut to keep what all values have in common: `rhost=*`, `[client *]`. */
const OPENING = /^.*[=:([{<]/;
const CLOSING = /[,;:.!?)\]}>]*$/;

/** Rows are different, sorted and have the same number of words. Returns the rows that change, with their new words. */
function findVarying(rows: readonly string[][]): Map<number, string[]> {
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
