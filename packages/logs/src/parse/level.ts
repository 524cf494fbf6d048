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

/** Every level word found in real logs, by rank. */
export const LEVEL_WORDS_BY_RANK: readonly (readonly string[])[] = [
  '',
  'trace trac trce trc verbose verb vrb silly finest finer blather noise detail',
  'debug debugging dbug debu debg dbg deb fine config cfg maxdebug',
  'info information informational infor inf notice notic noti notif notifications ntc note log success succ statement system progress connect http',
  'warn warning warnings warni wrn war',
  'error errors err errs eror erro errr severe fail failure failed dpanic crash supervisor',
  'fatal critical criti crit crt cri alert alerts aler alrt emergency emergencies emerg emer panic pnc ftl fata fat assert',
].map(toWords);

/** Those of the contract. */
export const CONTRACT_WORDS = toWords('trace debug info notice warn warning error err dpanic panic fatal critical');

/** Those that are levels wherever a level is expected, as the value of a key or in front of a message. */
export const VALUE_WORDS: readonly string[] = [
  ...CONTRACT_WORDS,
  ...toWords('silly trc trce verbose finest finer dbg dbug fine config inf information ntc note log wrn eror severe'),
  ...toWords('fail crit alert emerg emergency ftl'),
];

/**
 * Words that messages have as often as levels: they are levels only where other words of the file show that levels are,
 * or between marks.
 */
const AMBIGUOUS_WORDS = [
  ...toWords('note log success succ statement system fine config cfg fail failure failed alert detail noise assert'),
  ...toWords('verb deb cri notif progress connect crash supervisor http war fat trac errors warnings alerts'),
  ...toWords('notifications debugging emergencies'),
];

/** Words that are levels behind `level=` and the like only. */
const KEYED: Readonly<Record<string, number>> = { event: 3, message: 3 };

export const KEYED_WORDS: readonly string[] = Object.keys(KEYED);

/** The rank of a word behind the key of a level that is no level elsewhere. */
export function keyedRank(word: string): number {
  return KEYED[word.toLowerCase()] ?? 0;
}

function toWords(text: string): string[] {
  return text.split(' ').filter(Boolean);
}

interface LevelWord {
  rank: number;
  isAmbiguous: boolean;
  isValue: boolean;
  isContract: boolean;
}

/** Letters that distinguish the words: five bits each must fit into a double. */
const KEY_LETTERS = 10;
export const LONGEST_WORD = 13;
const LONGEST_VALUE = 11;

/** Letters of the longest word of the contract. */
export const LONGEST_LEVEL = 8;

/** Words as numbers, so that they are looked up without creating a string. The first of those with the same letters counts. */
const BY_KEY = new Map<number, LevelWord>();
for (const [rank, words] of LEVEL_WORDS_BY_RANK.entries())
  for (const word of words.toReversed())
    BY_KEY.set(wordKey(Buffer.from(word), 0, word.length), {
      rank,
      isAmbiguous: AMBIGUOUS_WORDS.includes(word),
      isValue: VALUE_WORDS.includes(word),
      isContract: CONTRACT_WORDS.includes(word),
    });

/** Five bits for each letter, whatever its case; negative if a byte is not a letter. */
function wordKey(bytes: Uint8Array, start: number, end: number): number {
  let key = 0;
  for (let at = start; at < Math.min(end, start + KEY_LETTERS); at++) {
    const letter = (bytes[at] ?? 0) | 0x20;
    if (letter < 97 || letter > 122) return -1;
    key = key * 32 + (letter - 96);
  }
  return key;
}

/** The level that the letters `[start, end)` name, in any case; `undefined` if they name none. */
export function findLevelWord(bytes: Uint8Array, start: number, end: number): LevelWord | undefined {
  const length = end - start;
  if (length < 3 || length > LONGEST_WORD) return undefined;
  return BY_KEY.get(wordKey(bytes, start, end));
}

/** The level in a column, in any case; `undefined` if the column is something else. */
export function parseLevel(bytes: Uint8Array, start: number, end: number): Level | undefined {
  const word = end - start > LONGEST_LEVEL ? undefined : findLevelWord(bytes, start, end);
  return word?.isContract ? LEVELS_BY_RANK[word.rank] : undefined;
}

/** The rank of a level word, in any case; 0 if it is not one. */
export function readLevelWord(bytes: Buffer, start: number, end: number): number {
  const word = end - start > LONGEST_VALUE ? undefined : findLevelWord(bytes, start, end);
  if (word) return word.isValue ? word.rank : 0;
  // DEBUG1 to DEBUG5 of PostgreSQL.
  const last = bytes[end - 1] ?? 0;
  return end - start === 6 && last >= 49 && last <= 53 && parseLevel(bytes, start, end - 1) === 'DEBUG' ? 2 : 0;
}

const RANKS_BY_LETTER = new Uint8Array(256);
for (const [rank, letters] of ['', 'TV', 'D', 'IN', 'W', 'E', 'FCA'].entries())
  for (const letter of letters) RANKS_BY_LETTER[letter.charCodeAt(0)] = rank;

/** The rank of a capital that stands for a level; 0 if it does not. */
export function letterRank(byte: number | undefined): number {
  return byte === undefined ? 0 : (RANKS_BY_LETTER[byte] ?? 0);
}

/** The same where a level is expected: S is one of errors there. */
export function valueLetterRank(byte: number | undefined): number {
  return byte === 83 ? 5 : letterRank(byte);
}

/** Level of an HTTP status: server errors are errors, client errors are warnings. */
export function statusRank(status: number): number {
  return status >= 500 ? 5 : status >= 400 ? 4 : 3;
}

/** Ranks of the severities of syslog, emergency (0) to debug (7). */
const RANKS_BY_SEVERITY = [6, 6, 6, 5, 4, 3, 3, 2];

/** The rank of a severity of syslog; 0 if it is none. */
export function severityRank(severity: number): number {
  return RANKS_BY_SEVERITY[severity] ?? 0;
}
