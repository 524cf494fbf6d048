import type { Level } from '../types.ts';

/** Levels by rank; rank 0 means no level. */
export const LEVELS_BY_RANK: readonly (Level | undefined)[] = [
  undefined,
  'TRACE',
  'DEBUG',
  'INFO',
  'WARN',
  'ERROR',
  'FATAL',
];

export function levelRank(level: Level | undefined): number {
  return level === undefined ? 0 : LEVELS_BY_RANK.indexOf(level);
}

/** Level words found in real logs. */
export const LEVEL_WORDS: Readonly<Record<string, Level>> = {
  TRACE: 'TRACE',
  DEBUG: 'DEBUG',
  INFO: 'INFO',
  NOTICE: 'INFO',
  WARN: 'WARN',
  WARNING: 'WARN',
  ERROR: 'ERROR',
  ERR: 'ERROR',
  DPANIC: 'ERROR',
  PANIC: 'FATAL',
  FATAL: 'FATAL',
  CRITICAL: 'FATAL',
};

/** Letters of the longest level word. */
export const LONGEST_LEVEL = 8;

/** Words as numbers, so that a column is looked up without creating a string. */
const LEVELS_BY_KEY = new Map(
  Object.entries(LEVEL_WORDS).map(([word, level]) => [wordKey(Buffer.from(word), 0, word.length), level]),
);

/** The level in a column, in any case; `undefined` if the column is something else. */
export function parseLevel(bytes: Uint8Array, start: number, end: number): Level | undefined {
  if (end <= start || end - start > LONGEST_LEVEL) return undefined;
  return LEVELS_BY_KEY.get(wordKey(bytes, start, end));
}

/** Five bits for each letter, whatever its case; negative if a byte is not a letter. */
function wordKey(bytes: Uint8Array, start: number, end: number): number {
  let key = 0;
  for (let index = start; index < end; index++) {
    const letter = (bytes[index] ?? 0) | 0x20;
    if (letter < 97 || letter > 122) return -1;
    key = key * 32 + (letter - 96);
  }
  return key;
}
