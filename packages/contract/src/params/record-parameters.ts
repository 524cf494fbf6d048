import {
  choice,
  computedDuration,
  cursor,
  duration,
  flag,
  recordLimit,
  text,
  timestamp,
  wholeNumber,
} from './codecs.ts';
import { FILTER_ROWS, SELECTION_ROWS } from './filter-parameters.ts';
import type { Parameter } from './parameter.ts';

/* The parameters of a node's search, follow, histogram and digest. */

const MAX_CONTEXT_RECORDS = 100;
const MAX_BACK_RECORDS = 10_000;

export const RAW_ROW = {
  name: 'raw',
  field: 'raw',
  codec: flag,
  meaning: '`true`: each record also has its text exactly as the file contains it.',
  proto: 'raw',
  cli: { absent: '--output selects the form of records' },
} as const satisfies Parameter;

export const BUDGET_ROW = {
  name: 'budget',
  field: 'budgetMs',
  codec: computedDuration({ example: '5s' }),
  meaning:
    'Stop scanning after this long, like `5s`; the end then has the reason `time budget`. `search.budget` applies too.',
  proto: 'budget_ms',
  cli: { absent: 'commands continue until everything is scanned' },
} as const satisfies Parameter;

export const TIME_ROW = {
  name: 'time',
  field: 'timeMs',
  codec: timestamp,
  meaning: 'Start at this time, written like `from`; newest first: with the records before it.',
  proto: 'time_ms',
  cli: { absent: '--since and --until' },
} as const satisfies Parameter;

/** How many records, in which order, with which context. */
export const PAGE_ROWS = [
  {
    name: 'order',
    field: 'order',
    codec: choice(['newest', 'oldest']),
    meaning: 'Which records come first.',
    default: 'newest',
    proto: 'order',
    cli: { long: 'oldest', about: 'oldest first' },
  },
  {
    name: 'limit',
    field: 'limit',
    codec: recordLimit,
    meaning: 'Return at most this many records: 1 to `search.max-records`.',
    default: 200,
    proto: 'limit',
    cli: { long: 'limit', short: 'n', value: 'n', about: 'at most n records, or all', default: '1000' },
  },
  {
    name: 'before',
    field: 'before',
    codec: wholeNumber({ maximum: MAX_CONTEXT_RECORDS }),
    meaning: `Context: this many records (at most ${MAX_CONTEXT_RECORDS}) before each match, matching or not.`,
    default: 0,
    proto: 'before',
    cli: { long: 'before-context', short: 'B', value: 'n', about: 'n records before each match', default: '' },
  },
  {
    name: 'after',
    field: 'after',
    codec: wholeNumber({ maximum: MAX_CONTEXT_RECORDS }),
    meaning: `Context: this many records (at most ${MAX_CONTEXT_RECORDS}) after each match, matching or not.`,
    default: 0,
    proto: 'after',
    cli: { long: 'after-context', short: 'A', value: 'n', about: 'n records after each match', default: '' },
  },
] as const satisfies readonly Parameter[];

/** Where a search of one node starts and stops. */
const POSITION_ROWS = [
  {
    name: 'cursor',
    field: 'cursor',
    codec: cursor,
    meaning:
      'Start next to this record, in either order: use it to continue (pagination). Give at most one of `cursor`, `record`, `time` and `offset`.',
    proto: 'cursor',
    cli: { long: 'cursor', value: 'cursor', about: 'continue after CURSOR (shown by -o json)' },
  },
  {
    name: 'record',
    field: 'record',
    codec: cursor,
    meaning: 'Start at this record (its cursor); newest first: with the records before it.',
    proto: 'record',
    cli: { absent: 'the CLI pages by cursor' },
  },
  TIME_ROW,
  {
    name: 'offset',
    field: 'offset',
    codec: wholeNumber(),
    meaning: 'Start at the record that contains this byte of the uncompressed text; needs `file`.',
    proto: 'offset',
    cli: { absent: 'the CLI pages by cursor' },
  },
  {
    name: 'until',
    field: 'until',
    codec: cursor,
    meaning: 'Stop before the record of this cursor.',
    proto: 'until',
    cli: { absent: 'the CLI pages by cursor' },
  },
] as const satisfies readonly Parameter[];

export const SEARCH_ROWS = [...SELECTION_ROWS, ...FILTER_ROWS, ...PAGE_ROWS, ...POSITION_ROWS, RAW_ROW] as const;

export const BACK_ROW = {
  name: 'back',
  field: 'back',
  codec: wholeNumber({ maximum: MAX_BACK_RECORDS }),
  meaning: `Start this many records back, at most ${MAX_BACK_RECORDS}. Without \`back\`, \`time\` and \`cursor\`, start at the end.`,
  proto: 'back',
  cli: {
    long: 'tail',
    short: 'n',
    value: 'n',
    about: 'the newest n records, or all',
    default: '200; all with --since or --cursor',
  },
} as const satisfies Parameter;

export const FOLLOW_ROWS = [
  ...SELECTION_ROWS,
  ...FILTER_ROWS,
  BACK_ROW,
  {
    ...TIME_ROW,
    meaning:
      'Start at this time, written like `from`. Together with `cursor`: where logs start that the cursor does not name, unless its newest record is older.',
  },
  {
    name: 'cursor',
    field: 'cursor',
    codec: cursor,
    meaning: 'Start after this record. Join the cursors of several logs with `~`.',
    proto: 'cursor',
    cli: { long: 'cursor', value: 'cursor', about: 'continue after CURSOR (shown by -o json)' },
  },
  RAW_ROW,
] as const satisfies readonly Parameter[];

export const LAST_EVENT_ID_ROW = {
  name: 'Last-Event-ID',
  in: 'header',
  field: 'lastEventId',
  codec: text(),
  meaning:
    'The `id` of the last event seen: resumes after it, whatever the other parameters say. Browsers send it when they reconnect.',
  proto: { absent: 'a header of HTTP' },
  cli: { absent: 'the CLI resumes by itself' },
} as const satisfies Parameter;

export const HISTOGRAM_ROWS = [
  ...SELECTION_ROWS,
  ...FILTER_ROWS,
  {
    name: 'bucket',
    field: 'bucketMs',
    codec: duration({ example: '1m' }),
    meaning:
      'Width of a bucket: `1m`, or milliseconds. Without it, the width is chosen to give about `buckets` buckets.',
    proto: 'bucket_ms',
    cli: { long: 'bucket', value: 'duration', about: 'width of a bucket, like 1m; chosen to fit --buckets if absent' },
  },
  {
    name: 'buckets',
    field: 'buckets',
    codec: wholeNumber({ minimum: 1, maximum: 1000 }),
    meaning: 'About this many buckets, where the width is chosen: 1 to 1000.',
    default: 60,
    proto: 'buckets',
    cli: { long: 'buckets', value: 'n', about: 'about this many buckets', default: '40' },
  },
] as const satisfies readonly Parameter[];

export const DIGEST_ROWS = [
  ...SELECTION_ROWS,
  ...FILTER_ROWS,
  {
    name: 'limit',
    field: 'limit',
    codec: wholeNumber({ minimum: 1, maximum: 1000 }),
    meaning: 'Return at most this many groups, the largest ones: 1 to 1000.',
    default: 50,
    proto: 'limit',
    cli: { long: 'limit', short: 'n', value: 'n', about: 'at most n groups, the largest ones' },
  },
  {
    name: 'newSince',
    field: 'newSinceMs',
    codec: timestamp,
    meaning: 'Mark groups whose first record is not older than this time, written like `from`.',
    proto: 'new_since_ms',
    cli: { long: 'new-since', value: 'time', about: 'mark groups first seen at or after this time' },
  },
  {
    name: 'onlyNew',
    field: 'onlyNew',
    codec: flag,
    meaning: '`true`: return only the groups marked new; needs `newSince`.',
    proto: 'only_new',
    cli: { long: 'only-new', about: 'only new groups; needs --new-since' },
  },
] as const satisfies readonly Parameter[];
