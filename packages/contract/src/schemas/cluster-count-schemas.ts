import { archivePart } from './archive-schemas.ts';
import { coverageField } from './coverage-schemas.ts';
import { RECORD_SCHEMAS } from './record-schemas.ts';
import type { ResponseTypes, SentTypes } from './response-types.ts';
import { exactObject, extendedObject, integer, listOf, mapOf, nullable, ref } from './schema-builders.ts';

const members = { members: listOf(ref('MemberReport'), 'One for each member that was queried.'), ...coverageField };

const countsByMember = mapOf<number>(
  { type: 'integer' },
  'Number of records of each member, by id; members without records are absent.',
);

/** Counts of all members. */
export const CLUSTER_COUNT_SCHEMAS = {
  ClusterHistogram: exactObject<SentTypes['ClusterHistogram']>(
    'Counts per bucket of time and level, of all members.',
    {
      bucketMs: integer('Width of a bucket in milliseconds.'),
      buckets: listOf(
        extendedObject<ResponseTypes['HistogramBucket'], { nodes: Record<string, number> }>(
          RECORD_SCHEMAS.HistogramBucket,
          'The records of one bucket.',
          { nodes: countsByMember },
        ),
        'Those with records, in rising order.',
      ),
      untimed: integer('Matching records without a timestamp.'),
      counted: nullable(
        ref('CountedPart'),
        'Where a member ran out of time: the part that every member that responded has counted. Null: everything.',
      ),
      ...members,
    },
    archivePart,
  ),
  CountedPart: exactObject<ResponseTypes['CountedPart']>('A time range.', {
    fromMs: integer('Epoch milliseconds, inclusive.'),
    toMs: integer('Epoch milliseconds, exclusive.'),
  }),
  ClusterDigest: exactObject<SentTypes['ClusterDigest']>(
    'Records of all members grouped by level and call site.',
    {
      groups: listOf(
        extendedObject<
          ResponseTypes['DigestGroup'],
          { nodes: Record<string, number>; sample: ResponseTypes['ClusterRecord'] }
        >(RECORD_SCHEMAS.DigestGroup, 'Records of one level from one call site, or with one message pattern.', {
          nodes: countsByMember,
          sample: ref('ClusterRecord'),
        }),
        'The largest first.',
      ),
      totalGroups: integer('Estimated number of groups: members return their largest.'),
      ungrouped: integer('Records of groups that were discarded because there were too many.'),
      ...members,
    },
    { ...archivePart, baseline: ref('DigestBaseline') },
  ),
};
