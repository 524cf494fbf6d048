/* Finds words of levels that are columns of their own, without reading any line. Part of ../scan.ts. */
import { bits64, LEVEL_ENDS, TEXT } from '../scan';
import { isLetter } from './heads';
import { rankOf } from './levels';

const TAB: u8 = 9;
const SPACE: u8 = 32;
const ERROR_RANK: u8 = 5;

/** A tab and what is read as the end of a line are before it. */
const BEHIND_ENDS: i8 = 14;

/** Letters of the longest word. */
const LONGEST_WORD: u32 = 8;

/**
 * Whether a word of ERROR or above may end in `[from, to)` where the native format has it: behind a tab or a space, before a
 * tab or the end of a line.
 */
export function mayHaveErrors(from: u32, to: u32): bool {
  const ends = v128.load(LEVEL_ENDS);
  const stop = TEXT + to;
  for (let at = TEXT + from; at < stop; at += 64) {
    const a = ended(at, ends);
    const b = ended(at + 16, ends);
    const c = ended(at + 32, ends);
    const d = ended(at + 48, ends);
    if (!v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) continue;
    for (let bits = bits64(a, b, c, d); bits !== 0; bits &= bits - 1) {
      const end = at + <u32>ctz(bits);
      if (end < stop && rankBefore(end) >= ERROR_RANK) return true;
    }
  }
  return false;
}

/** Where a column or a line may end behind a letter that ends a word. */
function ended(at: u32, ends: v128): v128 {
  const last = v128.load(at - 1);
  const letter = i8x16.swizzle(ends, v128.and(last, i8x16.splat(15)));
  const isLetter = i8x16.eq(v128.or(last, i8x16.splat(32)), letter);
  // One comparison, which also takes bytes beyond ASCII, which are negative: few words are followed by one.
  const isEnd = i8x16.lt_s(v128.load(at), i8x16.splat(BEHIND_ENDS));
  return v128.and(isLetter, isEnd);
}

/** The rank of the word that ends before `end`; 0 if it names no level. */
function rankBefore(end: u32): u8 {
  let start = end;
  while (end - start <= LONGEST_WORD && isLetter(load<u8>(start - 1))) start--;
  const before = load<u8>(start - 1);
  if (before !== TAB && before !== SPACE) return 0;
  let key: u64 = 0;
  for (let at = start; at < end; at++) key = (key << 5) | <u64>(load<u8>(at) & 31);
  return rankOf(key);
}
