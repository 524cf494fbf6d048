import type { Level } from '../types.ts';
import { type ExactContext, readContext } from './exact-context.ts';
import { findColumns, type Span } from './record-columns.ts';

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
