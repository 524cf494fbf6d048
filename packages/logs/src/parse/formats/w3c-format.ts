import { headFields, type ShapedFormat } from './define-format.ts';
import type { Line } from './sample-lines.ts';
import { isDigit, skipSpaces, skipWord } from './tokens/byte-scan.ts';
import { statusRank } from './tokens/level-word.ts';

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
