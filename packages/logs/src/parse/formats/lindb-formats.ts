import { exactNumber } from '../exact-context.ts';
import type { FormatOptions } from '../format.ts';
import { parseTimestamp } from '../timestamp.ts';
import { columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { skipWord, startsWith, TAB } from './tokens/byte-scan.ts';
import { readStatus } from './tokens/http-status.ts';
import { statusRank } from './tokens/level-word.ts';

/** Room for a long URI before the status. */
const MAX_HEAD_BYTES = 16 * 1024;

const REQUEST = /^(\S+) (\S+) "(\S+) (.*?)(?: HTTP\/[\d.]+)?" (\d{3}) (-?\d+)(?: |$)/s;

/** LinDB's access.log: time⇥ip duration "METHOD uri PROTO" status bytes [Error #01: ...]. */
export function createLindbAccessFormat({ zone }: FormatOptions): ShapedFormat {
  return defineFormat({
    name: 'lindb-access',
    maxHeadBytes: MAX_HEAD_BYTES,
    readStart(bytes, start, end, found) {
      const time = parseTimestamp(bytes, start, end);
      if (!time) return false;
      found.timeMs = zone.toEpochMs(time.localMs);
      found.bodyAt = time.end;
      if (time.end >= end || bytes[time.end] !== TAB) return true;
      found.bodyAt = time.end + 1;
      const durationAt = skipWord(bytes, found.bodyAt, end) + 1;
      const status = readStatus(bytes, skipWord(bytes, durationAt, end) + 1, end);
      if (status > 0) found.rank = statusRank(status);
      return true;
    },
    readColumns(body) {
      const [, ip, duration, method, uri, status, bytes] = REQUEST.exec(body) ?? [];
      if (!ip) return undefined;
      return columns(body, {
        context: { ip, duration, method, uri, status: exactNumber(status ?? ''), bytes: exactNumber(bytes ?? '') },
      });
    },
  });
}

const LEAD = '# Time: ';

/**
 * LinDB's show_sql.log: `# Time:`, `# Database:`, `# Execute time:`, then the statement, which may have several lines.
 */
export function createLindbSlowSqlFormat({ zone }: FormatOptions): ShapedFormat {
  const format = defineFormat({
    name: 'lindb-slow-sql',
    readStart(bytes, start, end, found) {
      if (!startsWith(bytes, start, end, LEAD)) return false;
      const time = parseTimestamp(bytes, start + LEAD.length, end);
      if (!time) return false;
      found.timeMs = zone.toEpochMs(time.localMs);
      found.bodyAt = time.end;
      return true;
    },
    readColumns: (body) => columns(body, {}),
  });
  return {
    ...format,
    decode(bytes, start, end) {
      const { timeMs, message } = format.decode(bytes, start, end);
      if (timeMs === undefined) return { message };
      const { notes, statement } = splitNotes(message);
      return { timeMs, ...columns(statement, { context: notes }) };
    },
  };
}

/** The leading `# Key: value` lines, and the rest. */
function splitNotes(text: string): { notes: Record<string, unknown>; statement: string } {
  const lines = text.split('\n');
  const notes: Record<string, unknown> = {};
  let index = 1;
  for (; index < lines.length; index++) {
    const [, key, value] = /^# (Database|Execute time): ?(.*?)\r?$/.exec(lines[index] ?? '') ?? [];
    if (!key) break;
    notes[key === 'Database' ? 'database' : 'executeTime'] = value;
  }
  const statement = lines.slice(index).join('\n');
  return { notes, statement: statement || text.trim() };
}
