import { MAX_TERM_BYTES } from '../query/scan-query.ts';
import {
  choice,
  computedDuration,
  cursor,
  duration,
  fieldNames,
  flag,
  query,
  recordLimit,
  text,
  texts,
  timestamp,
  wholeNumber,
} from './codecs.ts';
import { FILTER_ROWS, MEMBER_ROWS, SELECTION_ROWS, SOURCE_ROW } from './log-parameters.ts';
import type { ParameterRow } from './parameter.ts';

/* The parameters of searches, follows and counts. */

/** Records of a slow member may arrive this late: a resumed follow repeats some rather than losing any. */
export const RESUME_OVERLAP_SECONDS = 5;
export const RESUME_OVERLAP_MS = RESUME_OVERLAP_SECONDS * 1000;

export const MAX_CONTEXT_RECORDS = 100;
export const MAX_BACK_RECORDS = 10_000;

export const RAW_ROW = { name: 'raw', field: 'raw', codec: flag } as const satisfies ParameterRow;

/** Which fields each record has beside its text. */
export const FIELDS_ROW = { name: 'fields', field: 'fields', codec: fieldNames } as const satisfies ParameterRow;

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

/** Where a search starts and stops. */
export const POSITION_ROWS = [
  { name: 'cursor', field: 'cursor', codec: cursor },
  { name: 'record', field: 'record', codec: cursor },
  TIME_ROW,
  { name: 'offset', field: 'offset', codec: wholeNumber() },
  { name: 'until', field: 'until', codec: cursor },
] as const satisfies readonly ParameterRow[];

export const SEARCH_ROWS = [
  ...SELECTION_ROWS,
  ...FILTER_ROWS,
  ...PAGE_ROWS,
  ...POSITION_ROWS,
  RAW_ROW,
  FIELDS_ROW,
] as const;

export const BACK_ROW = {
  name: 'back',
  field: 'back',
  codec: wholeNumber({ maximum: MAX_BACK_RECORDS }),
} as const satisfies ParameterRow;

export const POSITIONS_ROW = {
  name: 'positions',
  field: 'positions',
  codec: text(),
} as const satisfies ParameterRow;

export const FOLLOW_ROWS = [
  ...MEMBER_ROWS,
  SOURCE_ROW,
  ...FILTER_ROWS,
  BACK_ROW,
  { ...TIME_ROW, docs: 'followTime' },
  { name: 'cursor', field: 'cursor', codec: cursor, docs: 'followCursor' },
  POSITIONS_ROW,
  RAW_ROW,
  FIELDS_ROW,
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

export const MAX_FIELD_SUMMARIES = 1000;
/** As many as a node returns, so that the counts of several nodes can be merged. */
export const MAX_TOP_VALUES = 10_000;
/** The most values that are counted alone; together they fit into the body of a request. */
export const MAX_GIVEN_VALUES = 1000;

export const FIELD_LIMIT_ROW = {
  name: 'limit',
  field: 'limit',
  codec: wholeNumber({ minimum: 1, maximum: MAX_FIELD_SUMMARIES }),
  default: 100,
  docs: 'fieldLimit',
} as const satisfies ParameterRow;

export const FIELDS_ROWS = [...SELECTION_ROWS, ...FILTER_ROWS, FIELD_LIMIT_ROW] as const;

export const VALUE_ROWS = [
  { name: 'by', required: true, field: 'by', codec: text({ maxBytes: MAX_TERM_BYTES }) },
  {
    name: 'limit',
    field: 'limit',
    codec: wholeNumber({ minimum: 1, maximum: MAX_TOP_VALUES }),
    default: 10,
    docs: 'topLimit',
  },
  { name: 'value', field: 'values', codec: texts({ maxBytes: MAX_TERM_BYTES }) },
  { name: 'bucket', field: 'bucketMs', codec: duration({ example: '1m' }), docs: 'topBucket' },
  { name: 'buckets', field: 'buckets', codec: wholeNumber({ minimum: 1, maximum: 1000 }), docs: 'topBuckets' },
] as const satisfies readonly ParameterRow[];

export const TOP_ROWS = [...SELECTION_ROWS, ...FILTER_ROWS, ...VALUE_ROWS] as const;

export const EXPLAIN_ROW = {
  name: 'query',
  required: true,
  field: 'query',
  codec: query,
  docs: 'explainedQuery',
} as const satisfies ParameterRow;
