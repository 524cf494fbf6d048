import type { FieldSummary, Fields, FieldType, Top, TopValue } from '@porthole/logs/types';
import { archivePart } from './archive-schemas.ts';
import { coverageField } from './coverage-schemas.ts';
import type { QueryExplanation, ResponseTypes, SentTypes } from './response-types.ts';
import {
  bool,
  exactObject,
  extendedObject,
  integer,
  listOf,
  mapOf,
  nullable,
  oneOf,
  ref,
  type Schema,
  text,
} from './schema-builders.ts';

const FIELD_TYPES: readonly FieldType[] = ['text', 'number', 'duration', 'size', 'boolean', 'level'];

const BUCKET = exactObject<{ startMs: number; count: number }>('One bucket of time.', {
  startMs: integer('Epoch milliseconds at which it begins.'),
  count: integer('Records.'),
});

const fields = {
  totalFields: integer('Number of fields, including those not returned.'),
  records: integer('Matching records that were examined.'),
  isSample: bool('Whether only parts of the range were examined, evenly chosen, because it is large.'),
};

const counts = {
  by: text('The field, as queries name it.'),
  others: integer('Counts of all values that are not in the list, together.'),
  missing: integer('Matching records without the field.'),
  distinct: integer('Number of different values; an estimate unless `isExact`.'),
  isExact: bool('Whether counts, order and `distinct` are exact for the covered range.'),
};

const BUCKET_MS = integer('Width of a bucket in milliseconds; absent unless buckets were requested.');

const ofMembers = {
  counted: nullable(
    ref('CountedPart'),
    'Where a member ran out of time: the part that every member that responded has counted. Null: everything.',
  ),
  members: listOf(ref('MemberReport'), 'One per queried member.'),
  ...coverageField,
};

const byMember = mapOf({ type: 'integer' } as Schema<number>, 'Records per member; members without any are absent.');

const SUMMARY = exactObject<FieldSummary>('A field of the examined records.', {
  name: text('As queries name it.'),
  types: listOf(
    oneOf('What values look like.', FIELD_TYPES),
    'Most frequent first; those of less than 5 % of its values are left out.',
  ),
  records: integer('Examined records that have the field.'),
  distinct: integer('Number of different values.'),
  isDistinctExact: bool('Whether `distinct` is exact for the examined records; otherwise estimated.'),
  examples: listOf({ type: 'string' } as Schema<string>, 'Some of its values, the most frequent ones first.'),
});

const VALUE = exactObject<TopValue>(
  'A value of the field.',
  {
    value: text('The value.'),
    count: integer('Matching records that have it; a lower bound if `error` is present.'),
  },
  {
    error: integer('The number of records is at most `count` plus this. Absent: the count is exact.'),
    buckets: listOf(BUCKET, 'Counts over time, in rising order; only if requested.'),
  },
);

/** Responses about fields. */
export const FIELD_SCHEMAS = {
  FieldSummary: SUMMARY,
  Fields: exactObject<Fields>('The fields of matching records.', {
    fields: listOf(ref('FieldSummary'), 'Those of the most records first.'),
    ...fields,
    end: ref('ScanReport'),
  }),
  TopValue: VALUE,
  Top: exactObject<Top>(
    'Counts by value of a field. A record with several values counts once for each.',
    {
      ...counts,
      values: listOf(ref('TopValue'), 'Most frequent first, equal counts by value.'),
      end: ref('ScanReport'),
    },
    { bucketMs: BUCKET_MS },
  ),
  QueryExplanation: exactObject<QueryExplanation>('A query in words.', {
    query: text('The query as this version writes it; empty if every record matches.'),
    words: text('What it asks for, in English.'),
  }),
  ClusterFields: exactObject<SentTypes['ClusterFields']>(
    'The fields of matching records of all members.',
    {
      fields: listOf(
        extendedObject<ResponseTypes['FieldSummary'], { nodes: Record<string, number> }>(SUMMARY, 'A field.', {
          nodes: byMember,
        }),
        'Those of the most records first. Where several members have a field and `distinct` is not exact, it is a minimum.',
      ),
      ...fields,
      ...ofMembers,
    },
    archivePart,
  ),
  ClusterTop: exactObject<SentTypes['ClusterTop']>(
    'Counts by value of a field, of all members.',
    {
      ...counts,
      values: listOf(
        extendedObject<ResponseTypes['TopValue'], { nodes: Record<string, number> }>(VALUE, 'A value of the field.', {
          nodes: byMember,
        }),
        'Most frequent first, equal counts by value.',
      ),
      ...ofMembers,
    },
    { bucketMs: BUCKET_MS, ...archivePart },
  ),
} satisfies { [Name in FieldSchemaName]: Schema<SentTypes[Name]> };

type FieldSchemaName =
  | 'FieldSummary'
  | 'Fields'
  | 'TopValue'
  | 'Top'
  | 'QueryExplanation'
  | 'ClusterFields'
  | 'ClusterTop';
