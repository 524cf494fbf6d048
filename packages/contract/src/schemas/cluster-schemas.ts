import type {
  ClusterConfig,
  ClusterConfigDiff,
  ClusterFollowItem,
  ClusterNodes,
  ConfigDifference,
  ConfigValue,
  ForgottenMember,
  MemberDuplicateFile,
  MemberFileProblem,
} from '../cluster-state.ts';
import { archivePart, coverage, coverageField, MEMBER_SCHEMAS } from './member-schemas.ts';
import { END_REASON, FOLLOW_END, FOLLOW_EVENTS, LOG_SCHEMAS, RECORD_SCHEMAS } from './record-schemas.ts';
import type { ResponseTypes, SentTypes } from './response-types.ts';
import {
  anyOf,
  anyValue,
  bool,
  constant,
  exactObject,
  extendedObject,
  integer,
  listOf,
  mapOf,
  mark,
  nullable,
  nullableInteger,
  nullableText,
  number,
  ref,
  type Schema,
  text,
} from './schema-builders.ts';

const node = { node: text('Id of the member it comes from.') };

const members = { members: listOf(ref('MemberReport'), 'One for each member that was queried.') };

const [ROTATED, TRUNCATED, GAP, MISSING, RECONNECTING, SKIPPED] = FOLLOW_EVENTS;

/** An event of a member's follow. */
function ofMember<Event extends object>(event: Schema<Event>) {
  return extendedObject<Event, { node: string }>(event, String(event.description), node);
}

/** Responses for the whole cluster. */
export const CLUSTER_SCHEMAS = {
  ...MEMBER_SCHEMAS,
  ClusterNodes: exactObject<ClusterNodes>('The members of the cluster.', {
    cluster: text('Name of the cluster.'),
    membership: ref('Membership'),
    nodes: listOf(ref('ClusterNode'), 'Every member, including those that left or failed; ordered by id.'),
  }),
  ForgottenMember: exactObject<ForgottenMember>('The result of forgetting a member.', {
    id: text('Id of the member.'),
    members: listOf(
      ref('MemberReport'),
      'One for each node that was asked to forget it; `count` is 1 where it had something to forget.',
    ),
  }),
  ClusterConfig: exactObject<ClusterConfig>('The configuration of each member.', {
    configs: listOf(
      exactObject<ClusterConfig['configs'][number]>('One member.', {
        id: text('Id of the member.'),
        role: text('What it does in its cluster.'),
        config: nullable(ref('NodeConfig'), 'Its configuration; null if it is not known.'),
        report: ref('MemberReport'),
      }),
    ),
  }),
  ConfigDifference: exactObject<ConfigDifference>('One key in which members differ.', {
    key: text('Dotted key.'),
    secret: bool('Whether the values are masked.'),
    isExpected: bool('Whether it is expected to differ between nodes: addresses, names, ports.'),
    values: listOf(
      exactObject<ConfigValue>(
        'One value, and which members have it.',
        {
          value: anyValue('Null where the key is missing. A secret: a mask and a fingerprint.'),
          nodes: listOf({ type: 'string' }, 'Ids of the members that have it.'),
          isMajority: bool('Whether most members have it.'),
          isSameMeaning: bool('Whether it is only a different spelling of the value of the majority.'),
        },
        { isNotCompared: mark('A secret without a fingerprint: it may be the same as one of the others.') },
      ),
    ),
  }),
  ClusterConfigDiff: exactObject<SentTypes['ClusterConfigDiff']>('Where configurations differ, by role.', {
    roles: listOf(
      exactObject<ClusterConfigDiff['roles'][number]>(
        'Members of one role.',
        {
          role: text('The role.'),
          nodes: listOf({ type: 'string' }, 'Ids of the members compared.'),
          comparedKeys: integer('Keys compared.'),
          notCompared: listOf({ type: 'string' }, 'Secrets for which not every member reports a fingerprint.'),
          differences: listOf(ref('ConfigDifference')),
        },
        {
          label: text('With `by`: the label that these members have; empty for those without it.'),
          withoutFingerprint: mapOf(listOf({ type: 'string' }), 'The members that report none, by such a key.'),
        },
      ),
    ),
    ...members,
    ...coverageField,
  }),
  ClusterLogFile: extendedObject<ResponseTypes['LogFile'], { node: string; modifiedMs: number | null }>(
    LOG_SCHEMAS.LogFile,
    'One log file of a member in detail; times by the clock of the responding node.',
    {
      ...node,
      modifiedMs: nullableInteger('Epoch milliseconds of the last write; null if the member does not report it.'),
    },
  ),
  ClusterLogFiles: exactObject<SentTypes['ClusterLogFiles']>('The log files of all members.', {
    files: listOf(ref('ClusterLogFile')),
    ...members,
    ...coverageField,
  }),
  ClusterRecord: extendedObject<ResponseTypes['FoundRecord'], { node: string; atMs?: number; isUnsure?: true }>(
    RECORD_SCHEMAS.FoundRecord,
    'A record, and which member logged it.',
    node,
    {
      atMs: number('Its time by the clock of the responding node, epoch milliseconds.'),
      isUnsure: mark(
        'Whether it or the record before it was first is uncertain, because of the uncertainty of clocks.',
      ),
    },
  ),
  ClusterEnd: exactObject<SentTypes['ClusterEnd']>(
    'The closing record: why it ended, its coverage, and a report per member.',
    {
      type: constant('end'),
      reason: END_REASON,
      records: integer('Records in the response.'),
      scannedBytes: integer('Bytes of text scanned by the members that had finished when the page was full.'),
      skippedBytes: integer('Bytes known from earlier scans to contain no match.'),
      ...coverage,
      ...coverageField,
      elapsedMs: integer('Milliseconds it took.'),
      ...members,
      membership: ref('Membership'),
      problems: listOf(ref('MemberFileProblem'), 'Files of members that were not read, or only in part.'),
      cursor: nullableText('Continues where this response stopped; null when nothing is left.'),
    },
    {
      duplicates: listOf(
        ref('MemberDuplicateFile'),
        'Files of members that were left out because another one contains all of their text.',
      ),
      ...archivePart,
    },
  ),
  MemberDuplicateFile: exactObject<MemberDuplicateFile>(
    'A file of a member that was left out because another one contains all of its text.',
    {
      node: text('Id of the member.'),
      file: text('File name.'),
      sameAs: text('The file that was read instead.'),
    },
  ),
  MemberFileProblem: exactObject<MemberFileProblem>('A file of a member that was not read, or only in part.', {
    node: text('Id of the member.'),
    file: text('File name.'),
    code: text('Error code, or LEFT_OUT for a file that is only read when it is selected by name.'),
    detail: text('Why.'),
  }),
  ClusterItem: anyOf('One line of a search of all members.', [ref('ClusterRecord'), ref('ClusterEnd')]),
  ClusterFollowItem: anyOf('The data of one event; its `type` is the name of the event.', [
    ref('ClusterRecord'),
    ofMember(ROTATED),
    ofMember(TRUNCATED),
    ofMember(GAP),
    ofMember(MISSING),
    ofMember(RECONNECTING),
    ofMember(SKIPPED),
    exactObject<Extract<ClusterFollowItem, { type: 'member' }>>('A member cannot be followed, or is followed again.', {
      type: constant('member'),
      node: text('Id of the member.'),
      report: ref('MemberReport'),
    }),
    FOLLOW_END,
  ]),
};

const membersAndCoverage = { ...members, ...coverageField };

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
      ...membersAndCoverage,
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
      ...membersAndCoverage,
    },
    { ...archivePart, baseline: ref('DigestBaseline') },
  ),
};
