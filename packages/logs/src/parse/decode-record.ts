import type { Level } from '../types.ts';
import { type ExactContext, readContext } from './exact-context.ts';
import { trimLineEnd } from './formats/define-format.ts';
import { CLOSE_BRACKET, COLON, isDigit, OPEN_BRACKET, SPACE, TAB } from './formats/tokens/byte-scan.ts';
import { LONGEST_LEVEL, parseLevel } from './level.ts';
import { parseTimestamp } from './timestamp.ts';

/** A record as text. Missing columns are absent; the message is always present. */
export interface LogRecord {
  /** Wall-clock ms as if it were UTC; a zone converts it to an instant. */
  localMs?: number;
  level?: Level;
  source?: string;
  tags?: string[];
  message: string;
  context?: Record<string, unknown>;
  /** See `RecordFields`. */
  contextText?: string;
}

/**
 * Decodes one record: its first line and, as part of the message, its continuation lines, CR LF converted to LF.
 * Columns are assigned one by one: object spread took three times as long.
 */
export function decodeRecord(bytes: Buffer, start = 0, end = bytes.length): LogRecord {
  const newline = bytes.subarray(start, end).indexOf(10);
  const firstEnd = newline < 0 ? end : start + newline + 1;
  const { localMs, level, source, tags, message, context: json } = findColumns(bytes, start, firstEnd);
  let found = parseContext(bytes, json);
  const bodyEnd = found ? message.end : Math.max(message.end, json.end);
  let more = '';
  if (firstEnd < end) {
    const rest = bytes
      .toString('utf8', firstEnd, end)
      .replace(/\r?\n$/, '')
      .replaceAll('\r\n', '\n');
    const contextAt = found ? -1 : contextStart(rest);
    if (contextAt >= 0) found = readContext(rest.slice(contextAt));
    more = contextAt >= 0 && found ? `\n${rest.slice(0, contextAt - 1)}`.replace(/\n$/, '') : `\n${rest}`;
  }
  const record = {} as LogRecord;
  if (localMs !== undefined) record.localMs = localMs;
  if (level) record.level = level;
  if (source.end > source.start) record.source = bytes.toString('utf8', source.start, source.end);
  if (tags.end > tags.start) record.tags = bytes.toString('utf8', tags.start + 1, tags.end - 1).split(/\] ?\[/);
  record.message = bytes.toString('utf8', message.start, bodyEnd) + more;
  if (found) record.context = found.context;
  if (found?.contextText !== undefined) record.contextText = found.contextText;
  return record;
}

/** Where the context starts after a multi-line message: a last column in braces on the last line; or -1. */
function contextStart(rest: string): number {
  if (!rest.endsWith('}')) return -1;
  const tab = rest.lastIndexOf('\t');
  return tab >= 0 && tab > rest.lastIndexOf('\n') && rest[tab + 1] === '{' ? tab + 1 : -1;
}

function parseContext(bytes: Buffer, { start, end }: Span): ExactContext | undefined {
  return start === end ? undefined : readContext(bytes.toString('utf8', start, end));
}

const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** A range of the bytes; empty (`start === end`) if the column is absent. */
export interface Span {
  start: number;
  end: number;
}

/** Positions of the columns in the first line of a record. Any of them may be absent. */
export interface RecordColumns {
  /** Wall-clock ms as if it were UTC; `undefined`: the line does not start a record, it continues the one above. */
  localMs: number | undefined;
  level: Level | undefined;
  source: Span;
  /** The bracketed tags, including the brackets but not the colon after them. */
  tags: Span;
  message: Span;
  /** Looks like a JSON object; decoding decides whether it is one. */
  context: Span;
}

/**
 * Finds the columns of a line in the native format, which responses name `contract`: time, level, source,
 * `[tags]: message`, JSON context, separated by tabs. Tolerant: a missing column is skipped, and everything else is
 * message. Works on bytes, creates no strings and reads nothing beyond `end`, which may include the line's CR and LF.
 */
export function findColumns(bytes: Buffer, start: number, end: number): RecordColumns {
  const lineEnd = trimLineEnd(bytes, start, end);
  const time = parseTimestamp(bytes, start, lineEnd);
  let at = start;
  if (time && (time.end === lineEnd || bytes[time.end] === TAB || bytes[time.end] === SPACE)) {
    at = Math.min(time.end + 1, lineEnd);
  }
  const levelEnd = columnEnd(bytes, at, Math.min(at + LONGEST_LEVEL + 1, lineEnd));
  const level = parseLevel(bytes, at, levelEnd);
  if (level) at = Math.min(levelEnd + 1, lineEnd);
  const source = findSource(bytes, at, lineEnd);
  if (source.end > source.start) at = Math.min(source.end + 1, lineEnd);
  const context = findContext(bytes, at, lineEnd);
  const bodyEnd = context.end > context.start ? Math.max(at, context.start - 1) : lineEnd;
  const tags = findTags(bytes, at, bodyEnd);
  const message = { start: skipTagEnd(bytes, tags, at, bodyEnd), end: bodyEnd };
  return { localMs: time?.localMs, level, source, tags, message, context };
}

/*
 * The loops below are plain because `indexOf` has no end parameter: in a large buffer it would run on over the
 * following lines, again for every line.
 */

function columnEnd(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== TAB) at++;
  return at;
}

/**
 * A column without spaces that ends in `:digits`. The last column is never a source: `localhost:9000` alone is a
 * message.
 */
function findSource(bytes: Buffer, start: number, end: number): Span {
  const none = { start, end: start };
  let stop = start;
  while (stop < end && bytes[stop] !== TAB && bytes[stop] !== SPACE) stop++;
  if (stop === end || bytes[stop] === SPACE) return none;
  let index = stop - 1;
  while (index > start && isDigit(bytes[index])) index--;
  return index < stop - 1 && index > start && bytes[index] === COLON ? { start, end: stop } : none;
}

/** A last column that starts with `{` and ends with `}`: JSON contains no raw tab, so the last tab precedes it. */
function findContext(bytes: Buffer, start: number, end: number): Span {
  const none = { start: end, end };
  if (end - start < 2 || bytes[end - 1] !== CLOSE_BRACE) return none;
  const from = lastColumnStart(bytes, start, end);
  return bytes[from] === OPEN_BRACE ? { start: from, end } : none;
}

/** If there is a tab right before `start`, the fast search cannot run past it. */
function lastColumnStart(bytes: Buffer, start: number, end: number): number {
  if (start > 0 && bytes[start - 1] === TAB) return bytes.lastIndexOf(TAB, end - 1) + 1;
  let from = end - 1;
  while (from > start && bytes[from - 1] !== TAB) from--;
  return from;
}

/** One or more `[...]` with single spaces between them, then a colon. */
function findTags(bytes: Buffer, start: number, end: number): Span {
  const none = { start, end: start };
  let at = start;
  while (at < end && bytes[at] === OPEN_BRACKET) {
    while (at < end && bytes[at] !== CLOSE_BRACKET) at++;
    at++;
    if (at >= end) return none;
    if (bytes[at] === COLON) return { start, end: at };
    if (bytes[at] === SPACE) at++;
  }
  return none;
}

/** The position after the colon and space that follow the tags; the body's start if there are none. */
function skipTagEnd(bytes: Buffer, tags: Span, start: number, end: number): number {
  if (tags.end === tags.start) return start;
  const afterColon = tags.end + 1;
  return Math.min(bytes[afterColon] === SPACE ? afterColon + 1 : afterColon, end);
}
