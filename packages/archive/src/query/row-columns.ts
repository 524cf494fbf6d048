import { createRecordFilter, RegexConditions, readContext, searchableText } from '@porthole/logs';
import { LEVELS } from '@porthole/logs/query';
import type { FoundRecord, Level, RecordFilter } from '@porthole/logs/types';

/*
 * Rows as they are read. The table is open to whoever has its password, so that a row may have anything: texts are cut by
 * the server, and what is no record of a node is reported.
 */

/** A node stores at most 64 KiB of a record; masking may make it a little longer. */
const MAX_LINE_BYTES = 128 * 1024;
const MAX_NAME_BYTES = 1024;
const MAX_TAGS = 256;
const MAX_ID_BYTES = 128;

/** Bytes at the start of a record that a cursor verifies, as the engine has it. */
const CHECK_BYTES = 64;

/** The message of a row. The column of this name fails where its numbers are wrong. */
export const MESSAGE =
  "if(message_text = '', substring(line, message_at + 1, greatest(toInt64(length(line)) - message_at - message_tail, 0)), message_text)";

export const TAGS = `arrayMap(tag -> substring(tag, 1, ${MAX_NAME_BYTES}), arraySlice(tags, 1, ${MAX_TAGS}))`;

/** A row that identifies a record: others are left out, since nothing could continue behind them. */
export const IS_RECORD = [
  `length(node) <= ${MAX_ID_BYTES}`,
  `length(log) <= ${MAX_NAME_BYTES}`,
  `length(file_id) <= ${MAX_ID_BYTES}`,
  `file_offset <= ${Number.MAX_SAFE_INTEGER}`,
  'time_ms BETWEEN -8640000000000000 AND 8640000000000000',
].join(' AND ');

/** A row of `RECORD_COLUMNS`. Other names than those of the table: in SQL, an alias hides the column of its name. */
export interface RecordRow {
  node: string;
  role: string;
  log: string;
  file_name: string;
  file_id: string;
  mark_text: string;
  file_offset: number;
  bytes: number;
  cursor_check: number;
  time_ms: number;
  has_time: 0 | 1;
  level_name: string;
  source_text: string;
  tag_list: string[];
  text: string;
  text_bytes: number;
  message_at: number;
  message_tail: number;
  message_own: string;
  context_text: string;
  context_bytes: number;
  cut: 0 | 1;
  continued: 0 | 1;
}

export const RECORD_COLUMNS = [
  ...[
    'node',
    'role',
    'log',
    'file_id',
    'file_offset',
    'bytes',
    'cursor_check',
    'time_ms',
    'has_time',
    'cut',
    'continued',
  ],
  ...['message_at', 'message_tail'],
  `substring(file, 1, ${MAX_NAME_BYTES}) AS file_name`,
  `substring(mark, 1, 64) AS mark_text`,
  `substring(level, 1, 16) AS level_name`,
  `substring(source, 1, ${MAX_NAME_BYTES}) AS source_text`,
  `${TAGS} AS tag_list`,
  `substring(line, 1, ${MAX_LINE_BYTES}) AS text`,
  'length(line) AS text_bytes',
  `substring(message_text, 1, ${MAX_LINE_BYTES}) AS message_own`,
  `substring(context, 1, ${MAX_LINE_BYTES}) AS context_text`,
  'length(context) AS context_bytes',
].join(', ');

/** Names of other bytes than text are shown as others: nothing could continue behind them. */
export const HAS_TEXT_NAMES = ['node', 'log', 'file_id'].map((name) => `match(${name}, '^(?s:.)*$')`).join(' AND ');

export function hasTextNames({ node, log, file_id }: RecordRow): boolean {
  return ![node, log, file_id].some((name) => name.includes('\ufffd'));
}

export interface DecodedRow {
  row: RecordRow;
  /** With its text. */
  record: FoundRecord;
  /** What is wrong with it; `undefined`: nothing. */
  problem?: string;
}

/** The record of a row, as its node would return it, with its text. What is wrong in the row is left out and reported. */
export function decodeRow(row: RecordRow): DecodedRow {
  const isLevel = row.level_name === '' || (LEVELS as readonly string[]).includes(row.level_name);
  const isCut = row.text_bytes > MAX_LINE_BYTES;
  const record = {
    type: 'record',
    file: row.file_name,
    offset: row.file_offset,
    bytes: row.bytes,
    cursor: rowCursor(row),
  } as FoundRecord;
  if (row.has_time) record.timeMs = row.time_ms;
  if (isLevel && row.level_name !== '') record.level = row.level_name as Level;
  if (row.source_text !== '') record.source = row.source_text;
  if (row.tag_list.length > 0) record.tags = row.tag_list;
  record.message = rowMessage(row, isCut ? 0 : row.message_tail);
  const hasContext = row.context_bytes > 0 && row.context_bytes <= MAX_LINE_BYTES;
  const found = hasContext ? readContext(row.context_text) : undefined;
  if (found) record.context = found.context;
  if (found?.contextText !== undefined) record.contextText = found.contextText;
  if (row.cut || isCut) record.cut = true;
  if (row.continued) record.continued = true;
  record.raw = row.text;
  const problem = findProblem(row, { isLevel, isCut, hasContext: record.context !== undefined });
  return problem === undefined ? { row, record } : { row, record, problem };
}

function rowCursor({ mark_text, file_offset, cursor_check, bytes, file_name }: RecordRow): string {
  const numbers = [file_offset, cursor_check, Math.min(CHECK_BYTES, bytes)].map((value) => value.toString(36));
  return [mark_text, ...numbers, Buffer.from(file_name).toString('base64url')].join('.');
}

function rowMessage({ text, message_at, message_own }: RecordRow, tail: number): string {
  if (message_own !== '') return message_own;
  if (message_at === 0 && tail === 0) return text;
  const bytes = Buffer.from(text);
  return bytes.toString('utf8', message_at, bytes.length - tail);
}

function findProblem(
  row: RecordRow,
  { isLevel, isCut, hasContext }: { isLevel: boolean; isCut: boolean; hasContext: boolean },
): string | undefined {
  if (!isLevel) return `unknown level ${JSON.stringify(row.level_name)}`;
  if (isCut) return `text of ${row.text_bytes} bytes`;
  if (row.context_bytes > 0 && !hasContext) return 'context is not a JSON object';
  if (row.message_at + row.message_tail > row.text_bytes) return 'message outside of the text';
  return /^[0-9a-f]{16}\.[0-9a-z]{1,4}$/.test(row.mark_text) ? undefined : 'invalid cursor';
}

/** Which of the texts a regex matches, computed in other threads: a single long text may take seconds. */
export type MatchRegex = (filter: RecordFilter, texts: readonly Buffer[]) => Promise<boolean[]>;

/** The rows whose records match. */
export type RowFilter = (rows: readonly DecodedRow[]) => Promise<DecodedRow[]>;

/**
 * The engine's own matcher on decoded rows, for what SQL cannot decide. Without times, which SQL has tested. Rejects with
 * REGEX_INVALID or REGEX_TOO_COMPLEX.
 */
export async function createRowFilter(filter: RecordFilter, matchRegex: MatchRegex | undefined): Promise<RowFilter> {
  const { fromMs: _fromMs, toMs: _toMs, ...conditions } = filter;
  // Also without rows, an invalid regex is refused.
  const matches = await createRecordFilter(conditions, []);
  const regexes = RegexConditions.of(conditions);
  if (!regexes || !matchRegex) return async (rows) => rows.filter(({ record }) => matches(record));
  const matchesOthers = await createRecordFilter(conditions, [], { withRegexes: false });
  return async (rows) => {
    const candidates = rows.filter(({ record }) => matchesOthers(record));
    const isMatch = await regexes.decide(candidates.map(toDecoded), matchRegex);
    return candidates.filter((_, index) => isMatch[index]);
  };
}

function toDecoded({ record }: { record: FoundRecord }) {
  return { fields: () => record, text: () => searchableText(record).toString() };
}
