import type { DocsOf } from '../parameter.ts';
import {
  type BUCKET_ROWS,
  type EXPLAIN_ROW,
  type FIELD_LIMIT_ROW,
  type GROUP_ROWS,
  MAX_FIELD_SUMMARIES,
  MAX_GIVEN_VALUES,
  MAX_TOP_VALUES,
  type VALUE_ROWS,
} from '../record-parameters.ts';

export const COUNT_DOCS: DocsOf<
  typeof BUCKET_ROWS | typeof GROUP_ROWS | typeof VALUE_ROWS | readonly [typeof FIELD_LIMIT_ROW, typeof EXPLAIN_ROW]
> = {
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
    meaning:
      'Mark groups that have no record older than this time, written like `from`: also none before `from`. What was compared is in `baseline`.',
    proto: 'new_since_ms',
    cli: { long: 'new-since', value: 'time', about: 'mark groups with no older record, also none before --since' },
  },
  onlyNew: {
    meaning: '`true`: return only the groups marked new, and those of which it is not known; needs `newSince`.',
    proto: 'only_new',
    cli: { long: 'only-new', about: 'show only those groups; needs --new-since' },
  },
  fieldLimit: {
    meaning: `Return at most this many fields, those of the most records first: 1 to ${MAX_FIELD_SUMMARIES}.`,
    proto: 'limit',
    cli: { long: 'limit', short: 'n', value: 'n', about: 'show the n most frequent fields' },
  },
  by: {
    meaning: 'The field whose values are counted, as queries name it: `shard`, `level`, `context.level`.',
    proto: 'by',
    cli: { absent: 'an argument names the field' },
  },
  topLimit: {
    meaning: `Return at most this many values, the most frequent ones: 1 to ${MAX_TOP_VALUES}.`,
    proto: 'limit',
    cli: { long: 'limit', short: 'n', value: 'n', about: 'show the n most frequent values' },
  },
  value: {
    meaning: `Count only this value, and all others together. May be given up to ${MAX_GIVEN_VALUES} times.`,
    proto: 'values',
    cli: { long: 'value', value: 'value', about: 'count only this value, and all others together; may be repeated' },
  },
  topBucket: {
    meaning: 'Count over time, too: width of a bucket, `1m`, or milliseconds.',
    proto: 'bucket_ms',
    cli: { long: 'bucket', value: 'span', about: 'count over time, too, in buckets of this width, like 1m' },
  },
  topBuckets: {
    meaning: 'Count over time, too, in about this many buckets, 1 to 1000; the width is chosen unless given.',
    proto: 'buckets',
    cli: { long: 'buckets', value: 'n', about: 'count over time, too, in about n buckets' },
  },
  explainedQuery: {
    meaning: 'The query, in the language of docs/query.md.',
    proto: 'query',
    cli: { absent: 'commands that take --query explain it' },
  },
};
