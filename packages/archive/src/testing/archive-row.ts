import { contextJson } from '@porthole/contract';
import type { FoundRecord } from '@porthole/logs';
import { decodeRow } from '../query/row-columns.ts';
import { rowDay } from '../schema/schema.ts';

/** A row of the table `records`, as `FORMAT JSONEachRow` has it with unquoted integers. */
export interface ArchiveRow {
  cluster: string;
  node: string;
  role: string;
  /** The family. */
  log: string;
  /** Name of the file when the record was shipped. */
  file: string;
  /** Identifies the text of the file, through rotation, compression and restarts. */
  file_id: string;
  /** What the cursor begins with: hash and length of the start of the file. */
  mark: string;
  file_offset: number;
  bytes: number;
  /** The checksum in the cursor. */
  cursor_check: number;
  /** `YYYY-MM-DD`, the partition. */
  day: string;
  /** A record without a time has that of the record before it, so that it stays among its neighbours; 0 if none has one. */
  time_ms: number;
  has_time: 0 | 1;
  level: string;
  source: string;
  tags: string[];
  /** The text of the record, without its last line break. */
  line: string;
  /** Where the message is in `line`: bytes before and behind it. Both 0 if it is in `message_text`. */
  message_at: number;
  message_tail: number;
  /** The message if it is not part of the line. */
  message_text: string;
  /** JSON as written in the log; empty if there is none. */
  context: string;
  cut: 0 | 1;
  continued: 0 | 1;
  /** Version: of rows with the same key, the highest counts. */
  shipped_ms: number;
}

/** What a row has besides its record. */
export interface RowPlace {
  cluster: string;
  node: string;
  role: string;
  log: string;
  fileId: string;
  /** Time of the last record before it in its file that has one; 0 if none has. */
  previousMs: number;
  shippedMs: number;
}

/** The record of a row, as queries decode it. */
export function rowToRecord(row: ArchiveRow): FoundRecord {
  return decodeRow({
    ...row,
    file_name: row.file,
    mark_text: row.mark,
    level_name: row.level,
    source_text: row.source,
    tag_list: row.tags,
    text: row.line,
    text_bytes: Buffer.byteLength(row.line),
    message_own: row.message_text,
    context_text: row.context,
    context_bytes: Buffer.byteLength(row.context),
  }).record;
}

/** The row of a record that was found with its text. Slow and obvious: shipping makes the same of the lines of a search. */
export function recordToRow(record: FoundRecord, place: RowPlace): ArchiveRow {
  const { raw = '', message, timeMs } = record;
  const [headHash, headBytes, , check = ''] = record.cursor.split('.');
  const at = raw.lastIndexOf(message);
  const time = timeMs ?? place.previousMs;
  return {
    cluster: place.cluster,
    node: place.node,
    role: place.role,
    log: place.log,
    file: record.file,
    file_id: place.fileId,
    mark: `${headHash}.${headBytes}`,
    file_offset: record.offset,
    bytes: record.bytes,
    cursor_check: Number.parseInt(check, 36),
    day: rowDay(time, place.shippedMs),
    time_ms: time,
    has_time: timeMs === undefined ? 0 : 1,
    level: record.level ?? '',
    source: wellFormed(record.source ?? ''),
    tags: (record.tags ?? []).map(wellFormed),
    line: raw,
    message_at: at < 0 ? 0 : Buffer.byteLength(raw.slice(0, at)),
    message_tail: at < 0 ? 0 : Buffer.byteLength(raw.slice(at + message.length)),
    message_text: at < 0 ? wellFormed(message) : '',
    context: contextJson(record) ?? '',
    cut: record.cut ? 1 : 0,
    continued: record.continued ? 1 : 0,
    shipped_ms: place.shippedMs,
  };
}

/** Halves of characters, which logs of JSON may contain, are no text: they become U+FFFD. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
