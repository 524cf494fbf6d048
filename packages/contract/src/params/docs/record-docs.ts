import type { FILTER_ROWS, SELECTION_ROWS } from '../filter-parameters.ts';
import type { DocsOf } from '../parameter.ts';
import {
  type BUCKET_ROWS,
  type BUDGET_ROW,
  type FOLLOW_ROWS,
  type GROUP_ROWS,
  type LAST_EVENT_ID_ROW,
  MAX_BACK_RECORDS,
  MAX_CONTEXT_RECORDS,
  type PAGE_ROWS,
  type POSITION_ROWS,
  type RAW_ROW,
} from '../record-parameters.ts';

const PAGED_BY_CURSOR = { absent: 'the CLI pages by cursor' };

export const PAGE_DOCS: DocsOf<typeof PAGE_ROWS> = {
  order: {
    meaning: 'Which records come first.',
    proto: 'order',
    cli: { long: 'oldest', on: 'oldest', about: 'oldest first' },
  },
  limit: {
    meaning: 'Return at most this many records: 1 to `search.max-records`.',
    proto: 'limit',
    cli: { long: 'limit', short: 'n', value: 'n', about: 'at most n records, or all', default: '1000' },
  },
  before: {
    meaning: `Context: this many records (at most ${MAX_CONTEXT_RECORDS}) before each match, matching or not.`,
    proto: 'before',
    cli: { long: 'before-context', short: 'B', value: 'n', about: 'show n records before each match', default: '' },
  },
  after: {
    meaning: `Context: this many records (at most ${MAX_CONTEXT_RECORDS}) after each match, matching or not.`,
    proto: 'after',
    cli: { long: 'after-context', short: 'A', value: 'n', about: 'show n records after each match', default: '' },
  },
};

export const SEARCH_DOCS: DocsOf<typeof POSITION_ROWS | readonly [typeof RAW_ROW, typeof BUDGET_ROW]> = {
  cursor: {
    meaning:
      'Start next to this record, in either order: use it to continue (pagination). Give at most one of `cursor`, `record`, `time` and `offset`.',
    proto: 'cursor',
    cli: { long: 'cursor', value: 'cursor', about: 'continue after CURSOR (shown by -o json)' },
  },
  record: {
    meaning: 'Start at this record (its cursor); newest first: with the records before it.',
    proto: 'record',
    cli: PAGED_BY_CURSOR,
  },
  time: {
    meaning: 'Start at this time, written like `from`; newest first: with the records before it.',
    proto: 'time_ms',
    cli: { absent: '--since and --until' },
  },
  offset: {
    meaning: 'Start at the record that contains this byte of the uncompressed text; needs `file`.',
    proto: 'offset',
    cli: PAGED_BY_CURSOR,
  },
  until: { meaning: 'Stop before the record of this cursor.', proto: 'until', cli: PAGED_BY_CURSOR },
  raw: {
    meaning: '`true`: each record also has its text exactly as the file contains it.',
    proto: 'raw',
    cli: { absent: '--output selects the form of records' },
  },
  budget: {
    meaning:
      'Stop scanning after this long, like `5s`; the end then has the reason `time budget`. `search.budget` applies too.',
    proto: 'budget_ms',
    cli: { absent: 'commands continue until everything is scanned' },
  },
};

type FollowRow = Exclude<
  (typeof FOLLOW_ROWS)[number] | typeof LAST_EVENT_ID_ROW,
  (typeof SELECTION_ROWS | typeof FILTER_ROWS)[number] | typeof RAW_ROW
>;

export const FOLLOW_DOCS: DocsOf<readonly FollowRow[]> = {
  back: {
    meaning: `Start this many records back, at most ${MAX_BACK_RECORDS}. Without \`back\`, \`time\` and \`cursor\`, start at the end.`,
    proto: 'back',
    cli: {
      long: 'tail',
      short: 'n',
      value: 'n',
      about: 'show the newest n records, or all',
      default: '200; all with --since or --cursor',
    },
  },
  followTime: {
    meaning:
      'Start at this time, written like `from`. Together with `cursor`: where logs start that the cursor does not name, unless its newest record is older.',
    proto: 'time_ms',
    cli: { absent: '--since and --until' },
  },
  followCursor: {
    meaning: 'Start after this record. Join the cursors of several logs with `~`.',
    proto: 'cursor',
    cli: { long: 'cursor', value: 'cursor', about: 'continue after CURSOR (shown by -o json)' },
  },
  'Last-Event-ID': {
    meaning:
      'The `id` of the last event seen: resumes after it, whatever the other parameters say. Browsers send it when they reconnect.',
    proto: { absent: 'a header of HTTP' },
    cli: { absent: 'the CLI resumes by itself' },
  },
};

export const COUNT_DOCS: DocsOf<typeof BUCKET_ROWS | typeof GROUP_ROWS> = {
  bucket: {
    meaning:
      'Width of a bucket: `1m`, or milliseconds. Without it, the width is chosen to give about `buckets` buckets.',
    proto: 'bucket_ms',
    cli: {
      long: 'bucket',
      value: 'span',
      about: 'bucket width, like 1m; default: chosen to give about --buckets buckets',
    },
  },
  buckets: {
    meaning: 'About this many buckets, where the width is chosen: 1 to 1000.',
    proto: 'buckets',
    cli: { long: 'buckets', value: 'n', about: 'approximate number of buckets', default: '40' },
  },
  groupLimit: {
    meaning: 'Return at most this many groups, the largest ones: 1 to 1000.',
    proto: 'limit',
    cli: { long: 'limit', short: 'n', value: 'n', about: 'show the n largest groups' },
  },
  newSince: {
    meaning: 'Mark groups whose first record is not older than this time, written like `from`.',
    proto: 'new_since_ms',
    cli: { long: 'new-since', value: 'time', about: 'mark groups first seen at or after this time' },
  },
  onlyNew: {
    meaning: '`true`: return only the groups marked new; needs `newSince`.',
    proto: 'only_new',
    cli: { long: 'only-new', about: 'show only those groups; needs --new-since' },
  },
};
