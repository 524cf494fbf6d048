import { exactNumber } from '../exact-context.ts';
import type { FormatOptions } from '../format.ts';
import { parseFraction, readMsOfDay, twoDigits, wallClockMs } from '../timestamp.ts';
import { columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { isDigit, SPACE, skipDigits } from './tokens/byte-scan.ts';
import { createYearlessClock } from './tokens/yearless-time.ts';

const CLOSING_BRACKET = 93;
const PLUS = 43;
const BAR = 124;

const BODY = /^ +(\d+) ([^\s\]]+:\d+)(?:\]| ⋮) ?(.*)$/s;

/** How far the tags of CockroachDB are followed for the counter behind them. */
const MAX_TAGS_BYTES = 1024;

/**
 * glog and klog: `I1115 00:21:26.600123   12345 file.go:123] message`. Newer glog writes the whole date (`I20261115`),
 * CockroachDB a two-digit year (`I261115`), always in UTC, and the whole head again on each further line of a record,
 * with a `+` or `|` after its counter: `I261115 00:21:26.600123 14 file.go:1 ⋮ [n1] 40 +more`.
 */
export function createGlogFormat(options: FormatOptions): ShapedFormat {
  const yearless = createYearlessClock(options);

  const dateTimeMs = (bytes: Buffer, dateAt: number, digits: number, msOfDay: number): number => {
    const month = twoDigits(bytes, dateAt + digits - 4);
    const day = twoDigits(bytes, dateAt + digits - 2);
    if (digits === 4) return yearless(month, day, msOfDay);
    const century = digits === 8 ? twoDigits(bytes, dateAt) : 20;
    const year = century * 100 + twoDigits(bytes, dateAt + digits - 6);
    const localMs = wallClockMs({ year, month, day }, msOfDay);
    return Number.isNaN(localMs) || digits === 6 ? localMs : options.zone.toEpochMs(localMs);
  };

  return defineFormat({
    name: 'glog',
    readStart(bytes, start, end, found) {
      const rank = letterRank(bytes[start]);
      // `I1115 00:21:26`
      if (rank === 0 || end - start < 14) return false;
      const digits = skipDigits(bytes, start + 1, Math.min(end, start + 10)) - start - 1;
      const clockAt = start + digits + 2;
      if ((digits !== 4 && digits !== 6 && digits !== 8) || bytes[clockAt - 1] !== SPACE || clockAt + 8 > end)
        return false;
      const timeMs = dateTimeMs(bytes, start + 1, digits, readMsOfDay(bytes, clockAt));
      if (Number.isNaN(timeMs)) return false;
      const fraction = parseFraction(bytes, clockAt + 8, end);
      if (digits === 6 && isContinuation(bytes, fraction.end, end)) return false;
      found.timeMs = timeMs + fraction.ms;
      found.rank = rank;
      found.bodyAt = fraction.end;
      return true;
    },
    readColumns(body) {
      const [, thread, source, message] = BODY.exec(body) ?? [];
      if (!source) return undefined;
      return columns(message ?? '', { source, context: { thread: exactNumber(thread ?? '') } });
    },
  });
}

/** Whether the tags `[…]` are followed by a counter and the mark of a further line. */
function isContinuation(bytes: Buffer, start: number, end: number): boolean {
  const limit = Math.min(end, start + MAX_TAGS_BYTES);
  for (let at = start; at < limit - 4; at++) {
    if (bytes[at] !== CLOSING_BRACKET || bytes[at + 1] !== SPACE || !isDigit(bytes[at + 2])) continue;
    const after = skipDigits(bytes, at + 2, limit);
    const mark = bytes[after] === SPACE ? bytes[after + 1] : undefined;
    return mark === PLUS || mark === BAR;
  }
  return false;
}

/** I, W, E, F; some programs add D. */
function letterRank(byte: number | undefined): number {
  if (byte === 73) return 3;
  if (byte === 87) return 4;
  if (byte === 69) return 5;
  if (byte === 70) return 6;
  return byte === 68 ? 2 : 0;
}
