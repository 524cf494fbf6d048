import { exactNumber } from '../../exact-context.ts';
import { type Columns, columns } from '../define-format.ts';
import {
  COLON,
  closingBracket,
  isCapital,
  isDigit,
  isLetter,
  OPEN_BRACKET,
  SPACE,
  skipLetters,
  skipSpaces,
  skipWord,
  startsWith,
} from '../tokens/byte-scan.ts';
import { readLevelWord } from '../tokens/level-word.ts';

const BODY = /^ (?:[A-Z]{2,5} )?\[(\d+)(?:-\d+)?\] (?:([^\s@]+)@(\S+) )?([A-Z]+\d?): {2}(.*)$/s;

/** Each of these lines has its own time, but always belongs to the report before it. */
const REMARKS = ['DETAIL:', 'HINT:', 'QUERY:', 'CONTEXT:', 'STATEMENT:', 'LOCATION:'];

/** The rank of a line that continues the record above. */
export const REMARK = -1;
const INFO_RANK = 3;

/**
 * The rank of PostgreSQL's severity after the time, which ends at `at`; `REMARK`, or 0 if it is not a line of
 * PostgreSQL.
 */
export function readPostgresRank(bytes: Buffer, at: number, end: number): number {
  const word = severityAt(bytes, at, end);
  if (word < 0 || !isCapital(bytes[word])) return 0;
  const colon = skipWord(bytes, word, end) - 1;
  if (bytes[colon] !== COLON) return 0;
  if (startsWith(bytes, word, end, 'LOG:')) return INFO_RANK;
  const rank = readLevelWord(bytes, word, colon);
  if (rank > 0) return rank;
  for (let index = 0; index < REMARKS.length; index++) {
    if (startsWith(bytes, word, end, REMARKS[index] ?? '')) return REMARK;
  }
  return 0;
}

/** Position of the severity in ` UTC [123] user@db LOG:  `; negative if the line does not have this layout. */
function severityAt(bytes: Buffer, start: number, end: number): number {
  let at = start;
  if (at + 1 < end && bytes[at] === SPACE && isLetter(bytes[at + 1])) at = skipLetters(bytes, at + 1, end);
  at = skipSpaces(bytes, at, end);
  if (at + 1 >= end || bytes[at] !== OPEN_BRACKET || !isDigit(bytes[at + 1])) return -1;
  at = skipSpaces(bytes, closingBracket(bytes, at, end) + 1, end);
  const wordEnd = skipWord(bytes, at, end);
  if (at >= end) return -1;
  if (bytes[wordEnd - 1] === COLON) return at;
  const next = skipSpaces(bytes, wordEnd, end);
  return next < end ? next : -1;
}

export function readPostgresColumns(body: string): Columns | undefined {
  const [, pid, user, database, , message = ''] = BODY.exec(body) ?? [];
  return pid ? columns(message, { context: { pid: exactNumber(pid), user, database } }) : undefined;
}
