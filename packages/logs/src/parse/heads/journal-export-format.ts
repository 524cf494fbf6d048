import type { FormatOptions } from '../format.ts';
import { headFields, type ShapedFormat, splitRecord } from '../formats/define-format.ts';
import { startsWith } from '../formats/tokens/byte-scan.ts';
import { readTimeToken } from '../formats/tokens/value-tokens.ts';
import { severityRank } from './message-levels.ts';

const START = '__CURSOR=';
const TIME = '__REALTIME_TIMESTAMP=';
const PRIORITY = 'PRIORITY=';

/** How far below its first line the time and the priority of a record are searched for: whoever scans has loaded this much. */
const MAX_BYTES = 2048;

/** `journalctl -o export`: one field on each line, the cursor first, and an empty line behind each record. */
export function createJournalExportFormat({ zone }: FormatOptions): ShapedFormat {
  const found = { timeMs: Number.NaN, rank: 0 };
  const readBelow = (bytes: Buffer, start: number): void => {
    found.timeMs = Number.NaN;
    found.rank = 0;
    const limit = Math.min(bytes.length, start + MAX_BYTES);
    for (let line = start; line < limit; ) {
      const newline = bytes.indexOf(10, line);
      const end = newline < 0 ? bytes.length : newline;
      if (end === line) return;
      if (startsWith(bytes, line, end, TIME)) found.timeMs = readTimeToken(bytes, line + TIME.length, end, zone);
      else if (startsWith(bytes, line, end, PRIORITY) && end === line + PRIORITY.length + 1)
        found.rank = severityRank((bytes[end - 1] ?? 0) - 48);
      line = end + 1;
    }
  };
  return {
    name: 'journal-export',
    spec: 'journal-export',
    timed: true,
    readsBelow: true,
    readHead(bytes, start, end, head) {
      if (!startsWith(bytes, start, end, START)) return false;
      readBelow(bytes, start);
      head.timeMs = found.timeMs;
      head.rank = found.rank;
      return true;
    },
    decode(bytes, start, end) {
      const { lineEnd, more } = splitRecord(bytes, start, end);
      if (!startsWith(bytes, start, lineEnd, START)) return { message: bytes.toString('utf8', start, lineEnd) + more };
      readBelow(bytes.subarray(0, end), start);
      return { ...headFields(found), message: more.replace(/^\n/, '').replace(/^__REALTIME_TIMESTAMP=.*\n?/m, '') };
    },
    isTypical: (bytes, start, end) => startsWith(bytes, start, end, START),
  };
}
