import type { MemberOutcome, MemberState, MembershipState } from '../cluster-state.ts';
import { LOG_SCHEMAS } from './log-schemas.ts';
import { END_REASON, FOLLOW_EVENTS, mark, RECORD_SCHEMAS } from './record-schemas.ts';
import {
  bool,
  exactObject,
  extendedObject,
  integer,
  type JsonSchema,
  listOf,
  mapOf,
  nullableInteger,
  nullableText,
  oneOf,
  type Properties,
  ref,
  text,
} from './schema-builders.ts';

/** Every word by name; they do not compile with one missing. */
const OUTCOMES: Readonly<Record<MemberOutcome, true>> = {
  ok: true,
  refused: true,
  timeout: true,
  tls: true,
  auth: true,
  'not supported': true,
  version: true,
  failed: true,
  gone: true,
  left: true,
};
const MEMBERSHIPS: Readonly<Record<MembershipState['kind'], true>> = {
  alone: true,
  static: true,
  etcd: true,
  lindb: true,
};
const MEMBER_STATES: Readonly<Record<MemberState, true>> = {
  up: true,
  unreachable: true,
  left: true,
  failed: true,
  unknown: true,
};

const memberState = oneOf(
  '`unreachable`: registered, but it does not respond. `left`: it deregistered when it stopped. `failed`: its registration ended without that. `unknown`: it does not respond, and the registry is away.',
  Object.keys(MEMBER_STATES),
);
const sinceMs = nullableInteger(
  'Epoch milliseconds at which it came into this state, as far as the node that answers has seen it.',
);

const node: Properties = { node: text('Id of the member it comes from.') };

const members: Properties = { members: listOf(ref('MemberReport'), 'One for each member that was asked.') };

/** Of a search of all members, by the clock of the node that answers. */
const coverage: Properties = {
  coveredFromMs: nullableInteger(
    'Epoch milliseconds of the start of the time range, both ends included, of which every matching record is in the response. Null: there is none.',
  ),
  coveredToMs: nullableInteger('Epoch milliseconds of the end of that time range, which is included.'),
};

const countsByMember = mapOf(
  { type: 'integer' },
  'How many records each member has, by id; members without are absent.',
);

/** The shapes of what any node answers for all members. */
export const CLUSTER_SCHEMAS = {
  MemberReport: exactObject(
    'Why the part of a member is there, or is not.',
    {
      id: text('Id of the member.'),
      outcome: oneOf('How asking it went.', Object.keys(OUTCOMES)),
      detail: nullableText('What was wrong, with the code of the error.'),
      elapsedMs: integer('Milliseconds until it had answered, or was given up.'),
      count: integer('What it gave: records, groups, files.'),
      asOfMs: nullableInteger('Epoch milliseconds at which what is shown of it was seen, where that is not now.'),
      state: memberState,
      sinceMs,
    },
    { isPartial: mark('What it gave is not all that was asked for: `detail` says why.'), ...coverage },
  ),
  Membership: exactObject('How sure the node is of who the members are.', {
    kind: oneOf('Where they are known from.', Object.keys(MEMBERSHIPS)),
    state: oneOf('`stale`: the registry does not answer, these are the last known.', ['ok', 'stale']),
    detail: nullableText('What is wrong with it.'),
    asOfMs: integer('Epoch milliseconds at which it was known.'),
  }),
  ClusterNode: exactObject('A member and how it is.', {
    id: text('Names it within the cluster.'),
    role: text('What it does in its cluster; `unknown` until a member of a static list has said it.'),
    node: ref('Node'),
    url: text('Where it is asked.'),
    isSelf: bool('Whether it is the node that answers.'),
    state: memberState,
    sinceMs,
    report: ref('MemberReport'),
    clock: {
      description: 'Its clock against that of the node that answers; null where it was never measured.',
      oneOf: [ref('MemberClock'), { type: 'null' }],
    },
    timeZone: nullableText('Zone of its log timestamps, by its IANA name.'),
    uptimeMs: nullableInteger('Milliseconds since it came online.'),
    lastRecordMs: nullableInteger('Epoch milliseconds of its newest record, corrected.'),
    recentErrors: nullableInteger('Records of level ERROR and above in the last 15 minutes.'),
    lastSeenMs: nullableInteger('Epoch milliseconds at which it last answered.'),
    problems: listOf(ref('NodeProblem'), 'Its health checks that fail: it is up, but degraded.'),
  }),
  MemberClock: exactObject('The clock of a member against that of the node that answers.', {
    offsetMs: {
      type: 'number',
      description:
        'Milliseconds to take off its times. 0 while the clock may be right; otherwise the same until a measurement rules it out.',
    },
    uncertaintyMs: { type: 'number', description: 'The true offset lies within so many milliseconds of it.' },
  }),
  ClusterNodes: exactObject('The members of the cluster.', {
    cluster: text('Name of the cluster.'),
    membership: ref('Membership'),
    nodes: listOf(ref('ClusterNode'), 'Every member, those included that have left or failed; ordered by id.'),
  }),
  ForgottenMember: exactObject('What became of the order to forget a member.', {
    id: text('Id of the member.'),
    members: listOf(
      ref('MemberReport'),
      'One for each node that was asked to forget it; `count` is 1 where it had something to forget.',
    ),
  }),
  ClusterConfig: exactObject('The configuration of each member.', {
    configs: listOf(
      exactObject('One member.', {
        id: text('Id of the member.'),
        role: text('What it does in its cluster.'),
        config: {
          description: 'Its configuration; null where it is not known.',
          oneOf: [ref('NodeConfig'), { type: 'null' }],
        },
        report: ref('MemberReport'),
      }),
    ),
  }),
  ConfigDifference: exactObject('One key in which members differ.', {
    key: text('Dotted key.'),
    secret: bool('Whether the values are masked.'),
    isExpected: bool('Whether it is one that differs from node to node: addresses, names, ports.'),
    values: listOf(
      exactObject('One value, and who has it.', {
        value: { description: 'Null where the key is missing. A secret: a mask and a fingerprint.' },
        nodes: listOf({ type: 'string' }, 'Ids of the members that have it.'),
        isMajority: bool('Whether most have it.'),
        isSameMeaning: bool("Whether it is only written differently from the majority's."),
      }),
    ),
  }),
  ClusterConfigDiff: exactObject('Where configurations differ, by role.', {
    roles: listOf(
      exactObject('Members of one role.', {
        role: text('The role.'),
        nodes: listOf({ type: 'string' }, 'Ids of the members compared.'),
        comparedKeys: integer('Keys compared.'),
        notCompared: listOf({ type: 'string' }, 'Secrets that not every member tells a fingerprint of.'),
        differences: listOf(ref('ConfigDifference')),
      }),
    ),
    ...members,
  }),
  ClusterLogFile: extendedObject(
    LOG_SCHEMAS.LogFile,
    'One log file of a member in detail; times by the clock of the node that answers.',
    node,
    { modifiedMs: nullableInteger('Epoch milliseconds of the last write; null where the member does not tell it.') },
  ),
  ClusterLogFiles: exactObject('The log files of all members.', { files: listOf(ref('ClusterLogFile')), ...members }),
  ClusterRecord: extendedObject(RECORD_SCHEMAS.FoundRecord, 'A record, and which member said it.', node, {
    atMs: { type: 'number', description: 'Its time by the clock of the node that answers, epoch milliseconds.' },
    isUnsure: mark('Whether it or the record before it was first cannot be known: the clocks are not that sure.'),
  }),
  ClusterEnd: exactObject(
    'The closing record: why it ended, its coverage, and how each member did.',
    {
      type: { const: 'end' },
      reason: END_REASON,
      records: integer('Records in the response.'),
      scannedBytes: integer('Bytes of text scanned.'),
      skippedBytes: integer('Bytes known from earlier scans to hold nothing asked for.'),
      ...coverage,
      elapsedMs: integer('Milliseconds it took.'),
      ...members,
      membership: ref('Membership'),
      problems: listOf(ref('MemberFileProblem'), 'Files of members that were not read, or not wholly.'),
      cursor: nullableText('Goes on where this answer stopped; null when nothing is left.'),
    },
    {
      duplicates: listOf(
        ref('MemberDuplicateFile'),
        'Files of members that were left out because another one has all of their text.',
      ),
    },
  ),
  MemberDuplicateFile: exactObject('A file of a member that was left out because another one has all of its text.', {
    node: text('Id of the member.'),
    file: text('File name.'),
    sameAs: text('The file that was read instead.'),
  }),
  MemberFileProblem: exactObject('A file of a member that was not read, or not wholly.', {
    node: text('Id of the member.'),
    file: text('File name.'),
    code: text('Error code, or LEFT_OUT for a file that takes part only when it is chosen by name.'),
    detail: text('Why.'),
  }),
  ClusterItem: {
    description: 'One line of a search of all members.',
    oneOf: [ref('ClusterRecord'), ref('ClusterEnd')],
  },
  ClusterFollowItem: {
    description: 'The data of one event; its `type` is the name of the event.',
    oneOf: [
      ref('ClusterRecord'),
      ...FOLLOW_EVENTS.map((event) => extendedObject(event, String(event.description), node)),
      exactObject('A member cannot be followed now, or again.', {
        type: { const: 'member' },
        node: text('Id of the member.'),
        report: ref('MemberReport'),
      }),
      exactObject('The last event.', {
        type: { const: 'end' },
        reason: oneOf('Why.', ['cancelled', 'stopping']),
      }),
    ],
  },
  ClusterHistogram: exactObject('Counts per stretch of time and level, of all members.', {
    bucketMs: integer('Width of a bucket in milliseconds.'),
    buckets: listOf(
      extendedObject(RECORD_SCHEMAS.HistogramBucket, 'The records of one stretch of time.', { nodes: countsByMember }),
      'Those with records, in rising order.',
    ),
    untimed: integer('Records that match but have no time.'),
    counted: {
      description:
        'Where a member had no time to count all: the part that every member that answered has counted. Null: everything.',
      oneOf: [ref('CountedPart'), { type: 'null' }],
    },
    ...members,
  }),
  CountedPart: exactObject('A stretch of time.', {
    fromMs: integer('Epoch milliseconds, inclusive.'),
    toMs: integer('Epoch milliseconds, exclusive.'),
  }),
  ClusterDigest: exactObject('Records of all members grouped by level and place in the code.', {
    groups: listOf(
      extendedObject(RECORD_SCHEMAS.DigestGroup, 'Records of one level from one place in the code, or of one shape.', {
        nodes: countsByMember,
        sample: ref('ClusterRecord'),
      }),
      'The largest first.',
    ),
    totalGroups: integer('Groups there are at least: members tell their largest.'),
    ungrouped: integer('Records of groups that were given up because there were too many.'),
    ...members,
  }),
} as const satisfies Record<string, JsonSchema>;
