import type { FormatOptions } from '../format.ts';
import { parseFraction, readMsOfDay, twoDigits } from '../timestamp.ts';
import { columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { COLON, isDigit, SPACE, skipWord } from './tokens/byte-scan.ts';
import { findLevel } from './tokens/find-level.ts';
import { type ReadTime, readIsoTime } from './tokens/iso-time.ts';
import { priorityRank } from './tokens/level-word.ts';
import { readMonthName } from './tokens/month-name.ts';
import { readPriority } from './tokens/syslog-priority.ts';
import { createYearlessClock } from './tokens/yearless-time.ts';

const LETTER_T = 84;

/** What is in the host's position in lines that only look like syslog. */
const LEVEL_WORD = /^\W?(?:trace|debug|info|notice|warn|warning|error|fatal|critical)\W?$/i;

const BODY = /^ ([^\s:]\S*[^\s:]|[^\s:]) ([^\s:[\]]+)(?:\[([^\]\s]*)\])?: ?(.*)$/s;

/** RFC 3164: `<34>Oct 11 22:14:15 host app[123]: message`, as written to files without `<34>`, or with rsyslog's ISO time. */
export function createSyslogFormat(options: FormatOptions): ShapedFormat {
  const yearless = createYearlessClock(options);
  const priority = { value: 0, end: 0 };
  const time = { timeMs: 0, end: 0 };

  /** `Oct 11 22:14:15`, the day padded with a space or a zero. */
  const readMonthTime = (bytes: Buffer, start: number, end: number, filled: ReadTime): boolean => {
    if (end - start < 15 || bytes[start + 3] !== SPACE || bytes[start + 6] !== SPACE) return false;
    const month = readMonthName(bytes, start, end);
    if (month === 0) return false;
    const padded = bytes[start + 4] === SPACE && isDigit(bytes[start + 5]);
    const day = padded ? (bytes[start + 5] ?? 48) - 48 : twoDigits(bytes, start + 4);
    const timeMs = yearless(month, day, readMsOfDay(bytes, start + 7));
    if (Number.isNaN(timeMs)) return false;
    const fraction = parseFraction(bytes, start + 15, end);
    filled.timeMs = timeMs + fraction.ms;
    filled.end = fraction.end;
    return true;
  };

  const readRsyslogTime = (bytes: Buffer, start: number, end: number, filled: ReadTime): boolean =>
    readIsoTime(bytes, start, end, options.zone, filled) && bytes[start + 10] === LETTER_T;

  return defineFormat({
    name: 'syslog',
    readStart(bytes, start, end, found) {
      if (readPriority(bytes, start, end, priority)) found.rank = priorityRank(priority.value);
      const at = priority.end;
      if (!readMonthTime(bytes, at, end, time) && !readRsyslogTime(bytes, at, end, time)) return false;
      found.timeMs = time.timeMs;
      found.bodyAt = time.end;
      // Files usually have no priority. Many programs then start their message with its level: `sshd[1]: error: ...`
      if (found.rank === 0) found.rank = levelBehindTag(bytes, time.end + 1, end);
      return true;
    },
    readColumns(body) {
      const [, host, tag, pid, message] = BODY.exec(body) ?? [];
      if (!host || !tag || LEVEL_WORD.test(host)) return undefined;
      return columns(message ?? '', { tag, context: { host, pid } });
    },
  });
}

function levelBehindTag(bytes: Buffer, hostAt: number, end: number): number {
  const tagAt = skipWord(bytes, hostAt, end) + 1;
  const tagEnd = skipWord(bytes, tagAt, end);
  return tagEnd > tagAt && bytes[tagEnd - 1] === COLON
    ? findLevel(bytes, tagEnd, end, { maxTokens: 1, mayBeProse: true })
    : 0;
}
