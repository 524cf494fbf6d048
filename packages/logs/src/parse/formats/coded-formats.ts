import { exactNumber } from '../exact-context.ts';
import type { FormatOptions } from '../format.ts';
import { readLevelWord, statusRank } from '../level.ts';
import { parseTimestamp } from '../timestamp.ts';
import { columns, defineFormat, headFields, type ShapedFormat } from './define-format.ts';
import type { Line } from './sample-lines.ts';
import { isDigit, isLetter, readStatus, skipSpaces, skipWord, startsWith, TAB } from './tokens/byte-scan.ts';

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

/** Python's own level names; the name of a logger has no spaces. */
const LINE = /^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):([^\s:]+):(.*)$/s;
const LONGEST_WORD = 8;
const COLON = 58;

/**
 * Python's `logging.basicConfig()`: `WARNING:shop.orders:slow`, without times. Lines of a traceback do not start
 * records.
 */
export function createPythonBasicFormat(_options: FormatOptions): ShapedFormat {
  return defineFormat({
    name: 'python-basic',
    timed: false,
    readStart(bytes, start, end, found) {
      let at = start;
      while (at < end && at - start <= LONGEST_WORD && isLetter(bytes[at])) at++;
      if (at === start || at >= end || bytes[at] !== COLON) return false;
      const rank = readLevelWord(bytes, start, at);
      if (rank === 0 || !hasLogger(bytes, at + 1, end)) return false;
      found.rank = rank;
      found.bodyAt = start;
      return true;
    },
    readColumns(body) {
      const [, logger, message] = LINE.exec(body) ?? [];
      return logger === undefined ? undefined : columns(message ?? '', { tag: logger });
    },
  });
}

function hasLogger(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end && bytes[at] !== COLON && (bytes[at] ?? 0) > 32) at++;
  return at > start && at < end && bytes[at] === COLON;
}

/** Name of a W3C format by the number of the column with the status. */
const NAME = /^w3c:(\d{1,2})$/;

const FIELDS = '#Fields:';

/** The column with the status in a name like `w3c:5`; `undefined` for any other name. */
export function w3cColumn(name: string): number | undefined {
  const [, column] = NAME.exec(name) ?? [];
  return column === undefined ? undefined : Number(column);
}

/** A W3C log says in its header in which column the status is; nothing is to be done if it has the columns of IIS. */
export function withStatusColumn(format: ShapedFormat, bytes: Buffer, lines: readonly Line[]): ShapedFormat {
  const column = findStatusColumn(bytes);
  const isUsual = lines.some(({ start, end }) => format.isTypical(bytes, start, end));
  return isUsual || column < 0 ? format : createW3cFormat(format, column);
}

/** The number of the column with the status, according to the header in the sample; negative if it has none. */
function findStatusColumn(sample: Buffer): number {
  const start = sample.indexOf(FIELDS);
  if (start < 0) return -1;
  const end = sample.indexOf(10, start);
  const header = sample.toString('latin1', start + FIELDS.length, end < 0 ? sample.length : end);
  const column = header.trim().split(/\s+/).indexOf('sc-status');
  return column > 99 ? -1 : column;
}

/** W3C extended logs whose columns are in another order than those of IIS: the status sets the level. */
export function createW3cFormat(base: ShapedFormat, column: number): ShapedFormat {
  const readRank = (bytes: Buffer, start: number, end: number): number => {
    let at = start;
    for (let skipped = 0; skipped < column; skipped++) at = skipSpaces(bytes, skipWord(bytes, at, end), end);
    const isStatus = skipWord(bytes, at, end) - at === 3 && isDigit(bytes[at]) && at + 3 <= end;
    return isStatus ? statusRank(Number(bytes.toString('latin1', at, at + 3))) : 0;
  };
  return {
    ...base,
    name: `w3c:${column}`,
    spec: `w3c:${column}`,
    readHead(bytes, start, end, head) {
      if (!base.readHead(bytes, start, end, head)) return false;
      head.rank = readRank(bytes, start, end);
      return true;
    },
    decode(bytes, start, end) {
      const { timeMs = Number.NaN, level: _level, ...fields } = base.decode(bytes, start, end);
      const newline = bytes.subarray(start, end).indexOf(10);
      const rank = Number.isNaN(timeMs) ? 0 : readRank(bytes, start, newline < 0 ? end : start + newline);
      return { ...headFields({ timeMs, rank }), ...fields };
    },
  };
}
