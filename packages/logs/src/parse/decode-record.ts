import type { Level } from './level.ts';
import { findColumns, type Span } from './record-columns.ts';

/** A record as text. Absent columns are absent; the message is never lost. */
export interface LogRecord {
  /** Wall-clock ms as if it were UTC; a zone makes an instant of it. */
  localMs?: number;
  level?: Level;
  source?: string;
  tags?: string[];
  message: string;
  context?: Record<string, unknown>;
}

/** Decodes one record: its first line and, as part of the message, its continuation lines. */
export function decodeRecord(bytes: Buffer, start = 0, end = bytes.length): LogRecord {
  const newline = bytes.subarray(start, end).indexOf(10);
  const firstEnd = newline < 0 ? end : start + newline + 1;
  const columns = findColumns(bytes, start, firstEnd);
  const text = ({ start: from, end: to }: Span) => bytes.toString('utf8', from, to);
  const context = parseContext(text(columns.context));
  const body = context
    ? columns.message
    : { start: columns.message.start, end: Math.max(columns.message.end, columns.context.end) };
  const more = firstEnd < end ? `\n${bytes.toString('utf8', firstEnd, end).replace(/\r?\n$/, '')}` : '';
  const tags = text(columns.tags);
  return {
    ...(columns.localMs !== undefined && { localMs: columns.localMs }),
    ...(columns.level && { level: columns.level }),
    ...(columns.source.end > columns.source.start && { source: text(columns.source) }),
    ...(tags && { tags: tags.slice(1, -1).split(/\] ?\[/) }),
    message: text(body) + more,
    ...(context && { context }),
  };
}

function parseContext(json: string): Record<string, unknown> | undefined {
  if (!json) return undefined;
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
