/** Ranks of levels: TRACE is 1, FATAL 6. */
const WORDS: readonly string[] = [
  '',
  'trace trac trce trc verbose verb vrb silly finest finer blather noise detail',
  'debug debugging dbug debu debg dbg deb fine config cfg maxdebug',
  'info information informational infor inf notice notic noti notif notifications ntc note log success succ statement system progress connect http',
  'warn warning warnings warni wrn war',
  'error errors err errs eror erro errr severe fail failure failed dpanic crash supervisor',
  'fatal critical criti crit crt cri alert alerts aler alrt emergency emergencies emerg emer panic pnc ftl fata fat assert',
];

/**
 * Words that messages have as often as levels: they are levels only where other words of the file show that levels are,
 * or between marks.
 */
const AMBIGUOUS: ReadonlySet<string> = new Set(
  [
    'note',
    'log',
    'success',
    'succ',
    'statement',
    'system',
    'fine',
    'config',
    'cfg',
    'fail',
    'failure',
    'failed',
  ].concat([
    'alert',
    'detail',
    'noise',
    'assert',
    'verb',
    'deb',
    'cri',
    'notif',
    'progress',
    'connect',
    'crash',
    'supervisor',
    'http',
    'war',
    'fat',
    'trac',
    'errors',
    'warnings',
    'alerts',
    'notifications',
    'debugging',
    'emergencies',
  ]),
);

/** Words that are levels behind `level=` and the like only. */
const KEYED: Readonly<Record<string, number>> = { event: 3, message: 3 };

export const KEYED_WORDS: readonly string[] = Object.keys(KEYED);

/** The rank of a word behind the key of a level that is no level elsewhere. */
export function keyedRank(word: string): number {
  return KEYED[word.toLowerCase()] ?? 0;
}

interface LevelWord {
  rank: number;
  isAmbiguous: boolean;
}

/** Letters that distinguish the words: five bits each must fit into a double. */
const KEY_LETTERS = 10;

const BY_KEY = new Map<number, LevelWord>();
for (const [rank, words] of WORDS.entries())
  for (const word of words.split(' ').filter(Boolean))
    BY_KEY.set(wordKey(Buffer.from(word), 0, word.length), { rank, isAmbiguous: AMBIGUOUS.has(word) });

export const LONGEST_WORD = 13;

function wordKey(bytes: Uint8Array, start: number, end: number): number {
  let key = 0;
  for (let at = start; at < Math.min(end, start + KEY_LETTERS); at++) key = key * 32 + (((bytes[at] ?? 0) | 0x20) - 96);
  return key;
}

/** The level that the letters `[start, end)` name, in any case; `undefined` if they name none. */
export function findLevelWord(bytes: Uint8Array, start: number, end: number): LevelWord | undefined {
  const length = end - start;
  if (length < 3 || length > LONGEST_WORD) return undefined;
  return BY_KEY.get(wordKey(bytes, start, end));
}

/** Every level word, by rank. */
export const LEVEL_WORDS_BY_RANK: readonly (readonly string[])[] = WORDS.map((words) =>
  words.split(' ').filter(Boolean),
);

/** The rank of a capital that stands for a level; 0 if it does not. */
export function letterRank(byte: number | undefined): number {
  return byte === undefined ? 0 : (RANKS_BY_LETTER[byte] ?? 0);
}

const RANKS_BY_LETTER = new Uint8Array(256);
for (const [letters, rank] of [
  ['TV', 1],
  ['D', 2],
  ['IN', 3],
  ['W', 4],
  ['E', 5],
  ['FCA', 6],
] as const)
  for (const letter of letters) RANKS_BY_LETTER[letter.charCodeAt(0)] = rank;
