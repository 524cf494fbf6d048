import type { FormatOptions } from '../format.ts';
import { defineFormat, type ShapedFormat } from './define-format.ts';
import { readLog4jColumns } from './lines/log4j-layouts.ts';
import { closingBracket, isLetter, OPEN_BRACKET, skipLetters, skipSpaces } from './tokens/byte-scan.ts';
import { findLevel } from './tokens/find-level.ts';
import { readLeadingTime } from './tokens/leading-time.ts';
import { readLevelWord } from './tokens/level-word.ts';

/** The usual layouts of log4j, logback and Spring, of Cassandra, Kafka and Elasticsearch, and of Python's logging. */
export function createLog4jFormat({ zone }: FormatOptions): ShapedFormat {
  const time = { timeMs: 0, end: 0 };
  return defineFormat({
    name: 'log4j',
    readStart(bytes, start, end, found) {
      const levelFirst = start < end && isLetter(bytes[start]);
      const timeAt = levelFirst ? timeBehindThread(bytes, start, end) : start;
      if (timeAt < 0 || !readLeadingTime(bytes, timeAt, end, zone, time)) return false;
      found.timeMs = time.timeMs;
      found.bodyAt = time.end;
      found.rank = levelFirst
        ? readLevelWord(bytes, start, skipLetters(bytes, start, end))
        : findLevel(bytes, time.end, end);
      return true;
    },
    readColumns: readLog4jColumns,
  });
}

/** Position of the time in `INFO  [thread] 2024-...`; negative if the line does not have this layout. */
function timeBehindThread(bytes: Buffer, start: number, end: number): number {
  const wordEnd = skipLetters(bytes, start, end);
  if (readLevelWord(bytes, start, wordEnd) === 0) return -1;
  const threadAt = skipSpaces(bytes, wordEnd, end);
  if (threadAt >= end || bytes[threadAt] !== OPEN_BRACKET) return threadAt < end && threadAt > wordEnd ? threadAt : -1;
  const close = closingBracket(bytes, threadAt, end);
  return close >= end ? -1 : skipSpaces(bytes, close + 1, end);
}
