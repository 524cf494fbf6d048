import { isDigit, SPACE, skipDigits } from '../formats/tokens/byte-scan.ts';

const CLOSING_BRACKET = 93;
const PLUS = 43;
const BAR = 124;

/** How far the tags of CockroachDB are followed for the counter behind them. */
const MAX_TAGS_BYTES = 1024;

/**
 * CockroachDB writes the whole head again on each further line of a record, with a `+` or `|` after its counter:
 * `I261115 00:21:26.600123 14 file.go:1 ⋮ [n1] 40 +more`.
 */
export function isContinuedGlog(bytes: Buffer, start: number, end: number): boolean {
  const limit = Math.min(end, start + MAX_TAGS_BYTES);
  for (let at = start; at < limit - 4; at++) {
    if (bytes[at] !== CLOSING_BRACKET || bytes[at + 1] !== SPACE || !isDigit(bytes[at + 2])) continue;
    const after = skipDigits(bytes, at + 2, limit);
    const mark = bytes[after] === SPACE ? bytes[after + 1] : undefined;
    return mark === PLUS || mark === BAR;
  }
  return false;
}
