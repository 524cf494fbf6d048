import type { Level } from '../../../types.ts';
import type { FormatOptions, LineHead } from '../../format.ts';
import { createZone } from '../../zone.ts';
import { type Columns, columns, headFields, type ShapedFormat, splitRecord, trimLineEnd } from '../define-format.ts';
import { compileLineLayout, type LineLayout, LineMatcher } from './line-layout.ts';
import { compileTimeLayout, isPartialTime } from './time-layout.ts';

/** Time and level are within this much of a line. */
const MAX_HEAD_BYTES = 4096;

/** A format described by the layouts of its lines. */
export interface LayoutDefinition {
  /** What is named to users. */
  name: string;
  /** Which programs write it. */
  programs: string;
  /** Time layouts; the first that matches is used. */
  times: readonly string[];
  /** Line layouts, the most specific first. A line that has the start of one, up to the time, starts a record. */
  lines: readonly string[];
  /** Further layouts, which do not show that a file has this format. */
  others?: readonly string[];
  /** A file with a line that starts with this has this format, however its other lines look. */
  header?: string;
  /** Names of comma-separated values: the rest of the record, from its message on. */
  csv?: readonly string[];
  /** The zone of times without one, if it is not that of the node. */
  zone?: 'UTC';
  /** Level texts besides the usual words and letters. */
  levels?: Readonly<Record<string, Level>>;
}

/** Compiles a definition once; each file gets a format of its own, since times may depend on when it was written. */
export function compileLayoutFormat(definition: LayoutDefinition): {
  isPartial: boolean;
  create(options: FormatOptions): ShapedFormat;
} {
  const times = definition.times.map(compileTimeLayout);
  const lines = [...definition.lines, ...(definition.others ?? [])].map(compileLineLayout);
  return {
    isPartial: hasPartialTime(definition),
    create: (options) => {
      const { zone = options.zone } = definition.zone ? { zone: createZone(definition.zone) } : options;
      const readers = times.map((create) => create({ ...options, zone }));
      const [first = () => false] = readers;
      const readTime: typeof first =
        readers.length === 1
          ? first
          : (bytes, start, end, time) => readers.some((reader) => reader(bytes, start, end, time));
      const matchers = lines.map((line) => new LineMatcher(line, readTime, definition.levels));
      return createLayoutFormat(definition, matchers);
    },
  };
}

/** Whether times may lack a year or a date: when the file was written completes them. */
function hasPartialTime({ times }: LayoutDefinition): boolean {
  return times.some(isPartialTime);
}

function describeLead({ parts, timeParts }: LineLayout): string {
  return JSON.stringify(parts.slice(0, timeParts));
}

/** The matcher whose head matches, or else one whose time does. Sets its time and rank. */
function matchHead(
  { matchers, leads }: { matchers: readonly LineMatcher[]; leads: readonly LineMatcher[] },
  bytes: Buffer,
  start: number,
  end: number,
): { matcher: LineMatcher; bodyAt: number } | undefined {
  for (const matcher of matchers) {
    const to = matcher.match(bytes, start, end, matcher.layout.headParts);
    if (to >= 0) return { matcher, bodyAt: to };
  }
  for (const matcher of leads) {
    const to = matcher.match(bytes, start, end, matcher.layout.timeParts);
    if (to >= 0) return { matcher, bodyAt: to };
  }
  return undefined;
}

function createLayoutFormat(
  { name, lines, header, csv }: LayoutDefinition,
  matchers: readonly LineMatcher[],
): ShapedFormat {
  /** One for each way in which lines start, up to the time. */
  const leads = [...new Map(matchers.map((matcher) => [describeLead(matcher.layout), matcher])).values()];
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  const readHead = (bytes: Buffer, start: number, lineEnd: number): number => {
    const end = Math.min(lineEnd, start + MAX_HEAD_BYTES);
    const found = matchHead({ matchers, leads }, bytes, start, end);
    if (!found) return -1;
    head.timeMs = found.matcher.timeMs;
    head.rank = found.matcher.rank;
    return found.bodyAt;
  };
  const matchLine = (candidates: readonly LineMatcher[], bytes: Buffer, start: number, lineEnd: number) =>
    candidates.find((matcher) => matcher.match(bytes, start, lineEnd) >= 0);
  const typical = matchers.slice(0, lines.length);

  return {
    name,
    spec: name,
    timed: true,
    ...(header && { header }),
    readHead(bytes, start, end, target) {
      if (readHead(bytes, start, trimLineEnd(bytes, start, end)) < 0) return false;
      target.timeMs = head.timeMs;
      target.rank = head.rank;
      return true;
    },
    decode(bytes, start, end) {
      const { lineEnd, more } = splitRecord(bytes, start, end);
      const bodyAt = readHead(bytes, start, lineEnd);
      if (bodyAt < 0) return { message: bytes.toString('utf8', start, lineEnd) + more };
      const known = headFields(head);
      const matcher = matchLine(matchers, bytes, start, lineEnd);
      if (matcher && csv) return { ...known, ...toColumns(matcher, bytes, { names: csv, more }) };
      const fields = matcher ? toColumns(matcher, bytes) : { message: bytes.toString('utf8', bodyAt, lineEnd).trim() };
      const message = fields.message + more;
      return { ...known, ...fields, message: fields.message === '' ? message.replace(/^\n/, '') : message };
    },
    isTypical: (bytes, start, end) => matchLine(typical, bytes, start, trimLineEnd(bytes, start, end)) !== undefined,
  };
}

/** What a matcher has found. `csv`: the message is the first of comma-separated values with these names. */
export function toColumns(
  matcher: LineMatcher,
  bytes: Buffer,
  csv?: { names: readonly string[]; more: string },
): Columns {
  let message = '';
  let source: string | undefined;
  let tag: string | undefined;
  const context: [string, unknown][] = [];
  for (const { name, value } of matcher.fields(bytes)) {
    if (name === 'message') message = String(value);
    else if (name === 'source') source = String(value);
    else if (name === 'logger') tag = String(value);
    else context.push([name, value]);
  }
  if (csv) {
    const [first = '', ...others] = readCsvFields(message + csv.more);
    message = first;
    for (const [index, value] of others.entries()) if (value) context.push([csv.names[index] ?? 'more', value]);
  }
  return columns(message, { ...(source && { source }), ...(tag && { tag }), context });
}

/** The fields of a record of comma-separated values; one in quotes may contain commas, doubled quotes and newlines. */
function readCsvFields(text: string): string[] {
  const fields: string[] = [];
  // Every alternative starts with another character, so matching takes linear time.
  const field = /"((?:[^"]|"")*)"?|([^,]*)/y;
  for (let at = 0; at <= text.length; at = field.lastIndex + 1) {
    field.lastIndex = at;
    const [, quoted, plain = ''] = field.exec(text) ?? [];
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    const comma = text.indexOf(',', field.lastIndex);
    if (comma < 0) break;
    field.lastIndex = comma;
  }
  return fields;
}
