import { parseLevel, readLevelWord } from '../../level.ts';
import {
  COLON,
  closingBracket,
  isCapital,
  isLetter,
  OPEN_BRACKET,
  skipLetters,
  skipSpaces,
  skipWord,
  TAB,
} from './byte-scan.ts';

/** No program writes its level further than this from the time. */
const MAX_BYTES = 512;
const MAX_TOKENS = 6;

/**
 * The rank of the level among the first words at `start`, or 0. The first word may be written in any way, also in
 * brackets, unless it may be prose. Later ones must look like a level and not like prose: in brackets, all capitals, or
 * `Error:`.
 */
export function findLevel(
  bytes: Buffer,
  start: number,
  end: number,
  { maxTokens = MAX_TOKENS, mayBeProse = false }: { maxTokens?: number; mayBeProse?: boolean } = {},
): number {
  const limit = Math.min(end, start + MAX_BYTES);
  let at = start;
  for (let token = 0; token < maxTokens; token++) {
    at = skipSeparators(bytes, at, limit);
    if (at >= limit) return 0;
    const open = bytes[at];
    if (open === OPEN_BRACKET || open === 60 || open === 40) {
      const rank = bracketedLevel(bytes, at + 1, limit);
      if (rank > 0) return rank;
      at = open === OPEN_BRACKET ? closingBracket(bytes, at, limit) + 1 : skipWord(bytes, at, limit);
      continue;
    }
    const rank = bareLevel(bytes, at, limit, token > 0 ? 'later' : mayBeProse ? 'prose' : 'first');
    if (rank > 0) return rank;
    at = skipWord(bytes, at, limit);
  }
  return 0;
}

/** Spaces, and the dashes and bars some layouts put between columns. */
function skipSeparators(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte !== 32 && byte !== TAB && byte !== 45 && byte !== 124) break;
    at++;
  }
  return at;
}

/** `[INFO ]`, `[ warn]`, `<Error>`. */
function bracketedLevel(bytes: Buffer, start: number, end: number): number {
  const from = skipSpaces(bytes, start, end);
  const to = skipLetters(bytes, from, end);
  const close = bytes[skipSpaces(bytes, to, end)];
  return close === 93 || close === 62 || close === 41 ? readLevelWord(bytes, from, to) : 0;
}

/** Position of a word: `prose` is the first one of a message that need not start with its level. */
type WordPosition = 'first' | 'prose' | 'later';

function bareLevel(bytes: Buffer, start: number, end: number, position: WordPosition): number {
  let to = skipLetters(bytes, start, end);
  if (to === start) return 0;
  const digit = bytes[to] ?? 0;
  if (to < end && digit >= 49 && digit <= 53) to++;
  const next = to < end ? bytes[to] : TAB;
  if (next !== 32 && next !== TAB && next !== COLON && next !== 124) return 0;
  if (position === 'first' && (next !== 32 || parseLevel(bytes, start, to))) return readLevelWord(bytes, start, to);
  const beforeColon = position === 'prose' || isCapital(bytes[start]);
  const shaped = next === COLON ? beforeColon : isAllCapitals(bytes, start, to);
  return shaped ? readLevelWord(bytes, start, to) : 0;
}

function isAllCapitals(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (isLetter(bytes[at]) && !isCapital(bytes[at])) return false;
  return true;
}
