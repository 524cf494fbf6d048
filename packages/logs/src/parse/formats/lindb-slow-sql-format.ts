import type { FormatOptions } from '../format.ts';
import { parseTimestamp } from '../timestamp.ts';
import { columns, defineFormat, type ShapedFormat } from './define-format.ts';
import { startsWith } from './tokens/byte-scan.ts';

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
