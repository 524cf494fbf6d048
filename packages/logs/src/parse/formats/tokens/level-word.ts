import type { Level } from '../../../types.ts';
import { LEVEL_WORDS, LONGEST_LEVEL, levelRank, parseLevel } from '../../level.ts';

/** Level words of third-party programs, in addition to those `parseLevel` knows. */
const MORE_WORDS: Readonly<Record<string, Level>> = {
  SILLY: 'TRACE',
  TRC: 'TRACE',
  TRCE: 'TRACE',
  VERBOSE: 'TRACE',
  FINEST: 'TRACE',
  FINER: 'TRACE',
  DBG: 'DEBUG',
  DBUG: 'DEBUG',
  FINE: 'DEBUG',
  INF: 'INFO',
  INFORMATION: 'INFO',
  NTC: 'INFO',
  NOTE: 'INFO',
  LOG: 'INFO',
  CONFIG: 'DEBUG',
  WRN: 'WARN',
  EROR: 'ERROR',
  SEVERE: 'ERROR',
  FAIL: 'ERROR',
  CRIT: 'FATAL',
  ALERT: 'FATAL',
  EMERG: 'FATAL',
  EMERGENCY: 'FATAL',
  FTL: 'FATAL',
};

/** Every level word. */
export const LEVELS_BY_WORD: Readonly<Record<string, Level>> = { ...LEVEL_WORDS, ...MORE_WORDS };

/** Letters that distinguish the words: five bits each must fit into a double. */
const KEY_LETTERS = 10;
const LONGEST_WORD = 11;

const RANKS_BY_KEY = new Map(
  Object.entries(MORE_WORDS).map(([word, level]) => [wordKey(Buffer.from(word), 0, word.length), levelRank(level)]),
);

/** The rank of a level word, in any case; 0 if it is not one. */
export function readLevelWord(bytes: Buffer, start: number, end: number): number {
  const length = end - start;
  if (length < 3 || length > LONGEST_WORD) return 0;
  if (length <= LONGEST_LEVEL) {
    const level = parseLevel(bytes, start, end);
    if (level) return levelRank(level);
  }
  const rank = RANKS_BY_KEY.get(wordKey(bytes, start, end));
  if (rank !== undefined) return rank;
  // DEBUG1 to DEBUG5 of PostgreSQL.
  const last = bytes[end - 1] ?? 0;
  return length === 6 && last >= 49 && last <= 53 && parseLevel(bytes, start, end - 1) === 'DEBUG' ? 2 : 0;
}

function wordKey(bytes: Uint8Array, start: number, end: number): number {
  let key = 0;
  for (let index = start; index < Math.min(end, start + KEY_LETTERS); index++) {
    const letter = (bytes[index] ?? 0) | 0x20;
    if (letter < 97 || letter > 122) return -1;
    key = key * 32 + (letter - 96);
  }
  return key;
}

/** Level of an HTTP status: server errors are errors, client errors are warnings. */
export function statusRank(status: number): number {
  return status >= 500 ? 5 : status >= 400 ? 4 : 3;
}

/** Ranks of syslog's severities, emergency (0) to debug (7). */
const RANKS_BY_SEVERITY = [6, 6, 6, 5, 4, 3, 3, 2];

/** The level within a syslog priority, which is facility × 8 + severity. */
export function priorityRank(priority: number): number {
  return RANKS_BY_SEVERITY[priority & 7] ?? 0;
}
