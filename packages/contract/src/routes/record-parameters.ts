import { DEFAULT_GROUPS, MAX_GROUPS } from '../requests/digest-request.ts';
import { MAX_BACK_RECORDS } from '../requests/follow-request.ts';
import { DEFAULT_BUCKETS, MAX_BUCKETS } from '../requests/histogram-request.ts';
import { DEFAULT_SEARCH_RECORDS, MAX_CONTEXT_RECORDS } from '../requests/search-request.ts';
import { flag, number, text } from './parameter-builders.ts';
import type { RouteParameter } from './route.ts';

const RAW = flag('raw', 'Tell the text of each record as it stands in the file, too.');

const BUDGET = text(
  'budget',
  'How long to look at most, like `5s`; the answer then tells how far it came. The limit of the node holds beside it.',
);

/** What every question about records takes. */
export const FILTER_PARAMETERS: readonly RouteParameter[] = [
  text('file', 'One file, by its name. Without `file` and `family`, all files.'),
  text('family', 'One log: a live file and those it was rotated to, by the name `/api/v1/log/files` tells.'),
  text(
    'from',
    'The earliest time: RFC 3339, `2026-11-15 14:05`, `14:05`, `yesterday 18:00`, `15m` (15 minutes ago), epoch seconds or ms.',
  ),
  text('to', 'The time to stop before, written like `from`.'),
  {
    ...text('level', 'This level or a higher one; any case, `warning` and `err` too.'),
    values: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
  },
  { ...text('q', 'A text that must occur. Given several times, all must.'), repeated: true },
  { ...text('not', 'A text that must not occur. May be given several times.'), repeated: true },
  {
    ...text('case', 'Whether letter case counts in `q`, `not` and `regex`; it does not unless told.'),
    values: ['insensitive', 'sensitive'],
  },
  text('regex', 'A regular expression (RE2 syntax) that must match somewhere in the record.'),
  text('source', 'The code that wrote it: `file` or `file:line`.'),
  text('component', "One of the record's tags, whatever its case."),
];

export const SEARCH_PARAMETERS: readonly RouteParameter[] = [
  ...FILTER_PARAMETERS,
  { ...text('order', 'Which come first; `newest` unless told.'), values: ['newest', 'oldest'] },
  number('limit', { minimum: 1 }, `At most so many records; ${DEFAULT_SEARCH_RECORDS} unless told.`),
  number('before', { minimum: 0, maximum: MAX_CONTEXT_RECORDS }, 'So many records before each one found.'),
  number('after', { minimum: 0, maximum: MAX_CONTEXT_RECORDS }, 'So many records after each one found.'),
  text('cursor', 'Start next to this record, in either order. Of `cursor`, `record`, `time`, `offset` give one.'),
  text('record', 'Start at this record; newest first: with those before it.'),
  text('time', 'Start at this time, written like `from`; newest first: with the records before it.'),
  number('offset', { minimum: 0 }, 'Start at the record that covers this byte; needs `file`.'),
  text('until', 'Stop before the record of this cursor.'),
  BUDGET,
  RAW,
];

export const FOLLOW_PARAMETERS: readonly RouteParameter[] = [
  ...FILTER_PARAMETERS,
  number('back', { minimum: 0, maximum: MAX_BACK_RECORDS }, 'Start so many records back; at the end unless told.'),
  text('time', 'Start at this time, written like `from`. Beside a cursor: where logs start that it does not name.'),
  text('cursor', 'Start after this record. Cursors of several logs may be joined by `~`.'),
  RAW,
  {
    ...text('Last-Event-ID', 'The `id` of the last event seen: goes on after it, whatever the other start is.'),
    in: 'header',
  },
];

export const HISTOGRAM_PARAMETERS: readonly RouteParameter[] = [
  ...FILTER_PARAMETERS,
  text('bucket', 'Width of a bucket: `1m`, or milliseconds. Chosen to fit `buckets` unless told.'),
  number(
    'buckets',
    { minimum: 1, maximum: MAX_BUCKETS },
    `About so many buckets, where the width is to be chosen; ${DEFAULT_BUCKETS} unless told.`,
  ),
  BUDGET,
];

export const DIGEST_PARAMETERS: readonly RouteParameter[] = [
  ...FILTER_PARAMETERS,
  number(
    'limit',
    { minimum: 1, maximum: MAX_GROUPS },
    `At most so many groups, the largest; ${DEFAULT_GROUPS} unless told.`,
  ),
  text('newSince', 'Marks groups whose first record is not older; a time written like `from`.'),
  flag('onlyNew', 'Only the groups marked new; needs `newSince`.'),
  BUDGET,
];
