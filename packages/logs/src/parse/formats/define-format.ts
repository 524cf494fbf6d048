import { contextFromEntries } from '../exact-context.ts';
import type { Format, FormatName, LineHead, RecordFields } from '../format.ts';
import { LEVELS_BY_RANK } from '../level.ts';

/** Time and level are within this much of a line in every format but JSON and access logs, however long the line is. */
const MAX_HEAD_BYTES = 4096;

/** What a reader finds at the start of a line. `NaN` and 0 mean not found. */
export interface LineStart extends LineHead {
  /** Where the part after the time starts; the part before is the lead. */
  bodyAt: number;
}

export type Columns = Omit<RecordFields, 'timeMs' | 'level'>;

/** A format that can also decide whether a line is typical of it, which is used for detection. */
export interface ShapedFormat extends Format {
  /** What a line starts with that shows that a file has this format, whatever its other lines are. */
  readonly header?: string;
  isTypical(bytes: Buffer, start: number, end: number): boolean;
}

export interface FormatDefinition {
  name: FormatName;
  timed?: boolean;
  maxHeadBytes?: number;
  /** Whether the line `[start, end)`, without its CR and LF, starts a record. */
  readStart(bytes: Buffer, start: number, end: number, found: LineStart): boolean;
  /** The columns of the first line; `undefined` if it does not have the usual layout. */
  readColumns(body: string, lead: string): Columns | undefined;
  /** The columns of a first line with another layout, if the lead contains more than time and level. */
  readOther?(body: string, lead: string): Columns;
}

/**
 * A format built from its two readers. One reader finds where records start and serves both `readHead` and `decode`, so
 * that the two cannot disagree about time and level. It is lenient: a line that has a time starts a record even if the
 * rest has an unusual layout; that rest is then the message.
 */
export function defineFormat(definition: FormatDefinition): ShapedFormat {
  const { name, timed = true, maxHeadBytes = MAX_HEAD_BYTES, readColumns } = definition;
  const found: LineStart = { timeMs: Number.NaN, rank: 0, bodyAt: 0 };

  const readStart = (bytes: Buffer, start: number, lineEnd: number) => {
    found.timeMs = Number.NaN;
    found.rank = 0;
    found.bodyAt = start;
    return definition.readStart(bytes, start, Math.min(lineEnd, start + maxHeadBytes), found);
  };
  const decodeColumns = (bytes: Buffer, start: number, lineEnd: number) =>
    readColumns(bytes.toString('utf8', found.bodyAt, lineEnd), bytes.toString('utf8', start, found.bodyAt));
  const otherColumns = (bytes: Buffer, start: number, lineEnd: number): Columns => {
    const body = bytes.toString('utf8', found.bodyAt, lineEnd).replace(/^[ \t]/, '');
    return definition.readOther?.(body, bytes.toString('utf8', start, found.bodyAt)) ?? { message: body };
  };

  return {
    name,
    spec: name,
    timed,
    readHead(bytes, start, end, head) {
      if (!readStart(bytes, start, trimLineEnd(bytes, start, end))) return false;
      head.timeMs = found.timeMs;
      head.rank = found.rank;
      return true;
    },
    decode(bytes, start, end) {
      const { lineEnd, more } = splitRecord(bytes, start, end);
      if (!readStart(bytes, start, lineEnd)) return { message: bytes.toString('utf8', start, lineEnd) + more };
      const columns = decodeColumns(bytes, start, lineEnd) ?? otherColumns(bytes, start, lineEnd);
      return { ...headFields(found), ...columns, message: columns.message + more };
    },
    isTypical(bytes, start, end) {
      const lineEnd = trimLineEnd(bytes, start, end);
      return readStart(bytes, start, lineEnd) && decodeColumns(bytes, start, lineEnd) !== undefined;
    },
  };
}

export function headFields({ timeMs, rank }: LineHead): Pick<RecordFields, 'timeMs' | 'level'> {
  const level = LEVELS_BY_RANK[rank];
  return { ...(!Number.isNaN(timeMs) && { timeMs }), ...(level && { level }) };
}

/** The end of the first line's text, and the continuation lines as appended to the message, CR LF converted to LF. */
export function splitRecord(bytes: Buffer, start: number, end: number): { lineEnd: number; more: string } {
  const newline = bytes.subarray(start, end).indexOf(10);
  const firstEnd = newline < 0 ? end : start + newline + 1;
  const rest = firstEnd < end ? `\n${bytes.toString('utf8', firstEnd, trimLineEnd(bytes, firstEnd, end))}` : '';
  return { lineEnd: trimLineEnd(bytes, start, firstEnd), more: rest.replaceAll('\r\n', '\n') };
}

export function trimLineEnd(bytes: Buffer, start: number, end: number): number {
  let trimmed = end;
  if (trimmed > start && bytes[trimmed - 1] === 10) trimmed--;
  if (trimmed > start && bytes[trimmed - 1] === 13) trimmed--;
  return trimmed;
}

/** The columns of a first line besides its message. Fields that are `undefined` are left out. */
export interface OptionalColumns {
  source?: string;
  tag?: string;
  context?: Readonly<Record<string, unknown>> | readonly (readonly [string, unknown])[];
}

/** Leaves out the columns that are `undefined`. */
export function columns(message: string, { source, tag, context = [] }: OptionalColumns): Columns {
  const given = Array.isArray(context) ? (context as readonly (readonly [string, unknown])[]) : Object.entries(context);
  const entries = given.filter(([, value]) => value !== undefined);
  return {
    ...(source && { source }),
    ...(tag && { tags: [tag] }),
    message,
    ...(entries.length > 0 && contextFromEntries(entries)),
  };
}
