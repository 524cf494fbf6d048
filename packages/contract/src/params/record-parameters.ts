import {
  caseSensitivity,
  choice,
  computedDuration,
  cursor,
  duration,
  familyName,
  fileName,
  flag,
  level,
  recordLimit,
  text,
  texts,
  timestamp,
  viewSize,
  wholeNumber,
} from './codecs.ts';
import type { ParameterRow } from './parameter.ts';

/* Which logs, and which records. A new filter is a row here and in docs/filter-docs.ts, its matching in `logs`, and where it is shown. */

/** Enough for what a person searches for, and few enough to match every byte of a log against all of them. */
export const MAX_TERMS = 32;
export const MAX_TERM_BYTES = 1024;
export const MAX_REGEX_BYTES = 2048;

/** Which logs. */
export const SELECTION_ROWS = [
  { name: 'file', field: 'file', codec: fileName },
  { name: 'family', field: 'family', codec: familyName },
] as const satisfies readonly ParameterRow[];

/** Which records. Every condition that is given must hold. */
export const FILTER_ROWS = [
  { name: 'from', field: 'fromMs', codec: timestamp },
  { name: 'to', field: 'toMs', codec: timestamp },
  { name: 'level', field: 'minLevel', codec: level },
  { name: 'q', field: 'terms', codec: texts({ maxBytes: MAX_TERM_BYTES }) },
  { name: 'regex', field: 'regex', codec: text({ maxBytes: MAX_REGEX_BYTES }) },
  { name: 'not', field: 'excluded', codec: texts({ maxBytes: MAX_TERM_BYTES }) },
  { name: 'case', field: 'caseSensitive', codec: caseSensitivity },
  { name: 'source', field: 'source', codec: text({ maxBytes: MAX_TERM_BYTES }) },
  { name: 'component', field: 'component', codec: text({ maxBytes: MAX_TERM_BYTES }) },
] as const satisfies readonly ParameterRow[];

/* The parameters of the routes that return the bytes of one file. */

export const DEFAULT_VIEW_BYTES = 1_048_576;

const REQUIRED_FILE_ROW = {
  name: 'file',
  required: true,
  field: 'file',
  codec: fileName,
  docs: 'requiredFile',
} as const satisfies ParameterRow;

export const VIEW_ROWS = [
  REQUIRED_FILE_ROW,
  { name: 'size', field: 'sizeBytes', codec: viewSize, default: DEFAULT_VIEW_BYTES },
] as const satisfies readonly ParameterRow[];

export const FILE_ROWS = [
  REQUIRED_FILE_ROW,
  { name: 'text', field: 'text', codec: flag },
] as const satisfies readonly ParameterRow[];

const header = text();

/** Byte ranges and conditional requests. */
export const RANGE_ROWS = [
  { name: 'Range', in: 'header', field: 'range', codec: header },
  { name: 'If-Range', in: 'header', field: 'ifRange', codec: header },
  { name: 'If-None-Match', in: 'header', field: 'ifNoneMatch', codec: header },
] as const satisfies readonly ParameterRow[];

/* The parameters of a node's search, follow, histogram and digest. */

export const MAX_CONTEXT_RECORDS = 100;
export const MAX_BACK_RECORDS = 10_000;

export const RAW_ROW = { name: 'raw', field: 'raw', codec: flag } as const satisfies ParameterRow;

export const BUDGET_ROW = {
  name: 'budget',
  field: 'budgetMs',
  codec: computedDuration({ example: '5s' }),
} as const satisfies ParameterRow;

export const TIME_ROW = { name: 'time', field: 'timeMs', codec: timestamp } as const satisfies ParameterRow;

/** How many records, in which order, with which context. */
export const PAGE_ROWS = [
  { name: 'order', field: 'order', codec: choice(['newest', 'oldest']), default: 'newest' },
  { name: 'limit', field: 'limit', codec: recordLimit, default: 200 },
  { name: 'before', field: 'before', codec: wholeNumber({ maximum: MAX_CONTEXT_RECORDS }), default: 0 },
  { name: 'after', field: 'after', codec: wholeNumber({ maximum: MAX_CONTEXT_RECORDS }), default: 0 },
] as const satisfies readonly ParameterRow[];

/** Where a search of one node starts and stops. */
export const POSITION_ROWS = [
  { name: 'cursor', field: 'cursor', codec: cursor },
  { name: 'record', field: 'record', codec: cursor },
  TIME_ROW,
  { name: 'offset', field: 'offset', codec: wholeNumber() },
  { name: 'until', field: 'until', codec: cursor },
] as const satisfies readonly ParameterRow[];

export const SEARCH_ROWS = [...SELECTION_ROWS, ...FILTER_ROWS, ...PAGE_ROWS, ...POSITION_ROWS, RAW_ROW] as const;

export const BACK_ROW = {
  name: 'back',
  field: 'back',
  codec: wholeNumber({ maximum: MAX_BACK_RECORDS }),
} as const satisfies ParameterRow;

export const FOLLOW_ROWS = [
  ...SELECTION_ROWS,
  ...FILTER_ROWS,
  BACK_ROW,
  { ...TIME_ROW, docs: 'followTime' },
  { name: 'cursor', field: 'cursor', codec: cursor, docs: 'followCursor' },
  RAW_ROW,
] as const satisfies readonly ParameterRow[];

export const LAST_EVENT_ID_ROW = {
  name: 'Last-Event-ID',
  in: 'header',
  field: 'lastEventId',
  codec: text(),
} as const satisfies ParameterRow;

export const BUCKET_ROWS = [
  { name: 'bucket', field: 'bucketMs', codec: duration({ example: '1m' }) },
  { name: 'buckets', field: 'buckets', codec: wholeNumber({ minimum: 1, maximum: 1000 }), default: 60 },
] as const satisfies readonly ParameterRow[];

export const HISTOGRAM_ROWS = [...SELECTION_ROWS, ...FILTER_ROWS, ...BUCKET_ROWS] as const;

export const GROUP_ROWS = [
  {
    name: 'limit',
    field: 'limit',
    codec: wholeNumber({ minimum: 1, maximum: 1000 }),
    default: 50,
    docs: 'groupLimit',
  },
  { name: 'newSince', field: 'newSinceMs', codec: timestamp },
  { name: 'onlyNew', field: 'onlyNew', codec: flag },
] as const satisfies readonly ParameterRow[];

export const DIGEST_ROWS = [...SELECTION_ROWS, ...FILTER_ROWS, ...GROUP_ROWS] as const;
