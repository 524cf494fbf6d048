import { ZONE_NAMES } from '../parse/formats/tokens/zone-names.ts';
import { CLOSING, LEFT, LEVEL_KEYS, RIGHT, SEPARATORS } from '../parse/heads/find-levels.ts';
import { LEADING_MARKS, TIME_KEYS } from '../parse/heads/find-times.ts';
import { METHODS, REMARKS } from '../parse/heads/message-levels.ts';
import { MONTH_NAMES, WEEKDAY_NAMES } from '../parse/heads/time-spellings.ts';
import { KEYED_WORDS, LEVEL_WORDS_BY_RANK, LONGEST_WORD, letterRank, VALUE_WORDS } from '../parse/level.ts';
import type { LoadedWasm } from './load-wasm.ts';

/** Bits of the classes of bytes, as kernel/scan/heads.ts has them. */
const CLASS_TABLES = [LEFT, RIGHT, SEPARATORS, LEADING_MARKS];
const METHOD_START = 16;
const DIGIT = 32;

/** A capital that stands for no level. */
const FOREIGN = 254;

/** What is known of a level word besides its rank: a message may start with it, or it needs a key. */
const IS_SPOKEN = 8;
const IS_KEYED = 16;

const WORD_ROWS = 512;
const KEY_LETTERS = 10;
const GOLDEN = 0x9e3779b1;
const MIX = 0x85ebca6b;

/** Keys have 64 bits, of which numbers hold those of the longest words. */
const HALF = 2 ** 32;

/** Fills the kernel's tables for reading heads from those of the plain reader. */
export function fillHeadTables({ buffer, constant: at }: Pick<LoadedWasm, 'buffer' | 'constant'>): void {
  const classes = new Uint8Array(buffer, at('CLASSES'), 256);
  for (const [bit, table] of CLASS_TABLES.entries())
    for (let byte = 0; byte < 256; byte++) if (table[byte] === 1) classes[byte] = (classes[byte] ?? 0) | (1 << bit);
  for (const method of METHODS) {
    const byte = method.charCodeAt(0);
    classes[byte] = (classes[byte] ?? 0) | METHOD_START;
  }
  for (let digit = 48; digit < 58; digit++) classes[digit] = (classes[digit] ?? 0) | DIGIT;
  new Uint8Array(buffer, at('CLOSING'), 256).set(CLOSING);
  const letters = new Uint8Array(buffer, at('LETTER_RANKS'), 256);
  for (let byte = 0; byte < 256; byte++) letters[byte] = letterRank(byte) || (byte >= 65 && byte <= 90 ? FOREIGN : 0);
  fillKeys(new Uint32Array(buffer, at('LEVEL_KEYS'), 64), LEVEL_KEYS);
  fillKeys(new Uint32Array(buffer, at('METHODS'), 64), METHODS);
  fillKeys(new Uint32Array(buffer, at('REMARKS'), 64), REMARKS);
  const keys = TIME_KEYS.map((key) => key.replace('=', ''));
  fillStarts(new Uint8Array(buffer, at('NAMED_STARTS'), 4096), [...MONTH_NAMES, ...WEEKDAY_NAMES, ...keys]);
  fillStarts(new Uint8Array(buffer, at('ZONE_STARTS'), 4096), [...ZONE_NAMES, 'Etc']);
  fillWords(new Uint32Array(buffer, at('LEVEL_WORDS'), WORD_ROWS * 4), new Uint16Array(buffer, at('WORD_LENGTHS'), 32));
}

function fillKeys(list: Uint32Array, words: Iterable<string>): void {
  let row = 0;
  for (const word of words) {
    const key = wordKey(word);
    list[row++] = key % HALF;
    list[row++] = key / HALF;
  }
}

/** Five bits for each letter, whatever its case. */
function wordKey(word: string): number {
  let key = 0;
  for (let at = 0; at < word.length; at++) key = key * 32 + ((word.charCodeAt(at) | 32) & 31);
  return key;
}

/** Those that start with other letters than those of English are not looked up. */
function fillStarts(set: Uint8Array, words: Iterable<string>): void {
  for (const word of words) {
    if (!/^[a-z]{3}/i.test(word)) continue;
    const key = wordKey(word.slice(0, 3));
    set[key >> 3] = (set[key >> 3] ?? 0) | (1 << (key & 7));
  }
}

function fillWords(table: Uint32Array, lengths: Uint16Array): void {
  const add = (word: string, value: number) => {
    const key = wordKey(word.slice(0, KEY_LETTERS));
    const [low, high] = [key % HALF, Math.floor(key / HALF)];
    let row = Math.imul(low ^ Math.imul(high, MIX), GOLDEN) >>> 23;
    while (table[row * 4] !== 0 && (table[row * 4] !== low || table[row * 4 + 1] !== high)) row = (row + 1) % WORD_ROWS;
    table[row * 4] = low;
    table[row * 4 + 1] = high;
    table[row * 4 + 2] = value;
    const first = word.charCodeAt(0) & 31;
    // Longer words are the same if their first letters are.
    const longer = word.length >= KEY_LETTERS ? 2 ** (LONGEST_WORD + 1) - 2 ** KEY_LETTERS : 1 << word.length;
    lengths[first] = (lengths[first] ?? 0) | longer;
  };
  for (const [rank, words] of LEVEL_WORDS_BY_RANK.entries())
    for (const word of words) add(word, rank + (VALUE_WORDS.includes(word) ? IS_SPOKEN : 0));
  for (const word of KEYED_WORDS) add(word, IS_KEYED);
}
