import type { ArchivePart, MemberArchive, MemberClock, MembershipState } from '../cluster-state.ts';
import type { Coverage, Missing } from '../coverage.ts';
import type { ShippingLag } from '../node-state.ts';
import type { SentTypes } from './response-types.ts';
import {
  bool,
  exactObject,
  integer,
  listOf,
  mapOf,
  mark,
  nullable,
  nullableInteger,
  nullableText,
  number,
  oneOf,
  ref,
  text,
} from './schema-builders.ts';

/** Why the part of a member is missing. */
const MISSING_OUTCOMES = [
  'refused',
  'timeout',
  'tls',
  'auth',
  'not supported',
  'version',
  'failed',
  'gone',
  'left',
] as const;

/** How the request to a member ended. */
export const OUTCOME = oneOf('How the request to it ended.', ['ok', ...MISSING_OUTCOMES]);

const memberState = oneOf(
  '`unreachable`: registered, but it does not respond. `left`: it deregistered when it stopped. `failed`: its registration ended without that. `unregistered`: the same, but it responds. `unknown`: it does not respond, and the registry is unavailable.',
  ['up', 'unreachable', 'left', 'failed', 'unregistered', 'unknown'],
);
const sinceMs = nullableInteger(
  'Epoch milliseconds at which it entered this state, as far as the responding node knows.',
);

/** What a search of all members covers, or a histogram of one of them, by the clock of the responding node. */
export const coverage = {
  coveredFromMs: nullableInteger(
    'Epoch milliseconds of the start of the time range, both ends included, of which every matching record is in the response. Null: there is none.',
  ),
  coveredToMs: nullableInteger('Epoch milliseconds of the end of that time range, which is included.'),
};

export const AS_OF = nullableInteger(
  'Epoch milliseconds of its last sign of life, if what is shown is not current but was recorded before.',
);

/** What is said of a member that does not respond. */
export const RECORDED = {
  recordedBy: text('Id of the node that has recorded what is shown.'),
  missingMs: integer('Milliseconds before it was lost of which nothing was recorded, at most.'),
  isPartial: mark('What it returned is not all that was requested: `detail` says why.'),
};

/** Members, and what responses report of them. */
export const MEMBER_SCHEMAS = {
  MemberReport: exactObject<SentTypes['MemberReport']>(
    'Why the part of a member is in the response, or is not.',
    {
      id: text('Id of the member.'),
      outcome: OUTCOME,
      detail: nullableText('What went wrong, with the error code.'),
      elapsedMs: integer('Milliseconds until it had responded or was given up.'),
      count: integer('What it returned: records, groups, files.'),
      asOfMs: AS_OF,
      state: memberState,
      sinceMs,
    },
    {
      ...RECORDED,
      ...coverage,
      archive: ref('MemberArchive'),
    },
  ),
  Membership: exactObject<MembershipState>('How reliable the list of members is.', {
    kind: oneOf('Where members are listed.', ['alone', 'static', 'etcd', 'lindb']),
    state: oneOf('`stale`: the registry does not respond, these are the last known members.', ['ok', 'stale']),
    detail: nullableText('What is wrong with it.'),
    asOfMs: integer('Epoch milliseconds at which it was known.'),
  }),
  ClusterNode: exactObject<SentTypes['ClusterNode']>(
    'A member and its state.',
    {
      id: text('Identifies it within the cluster.'),
      role: text('What it does in its cluster; `unknown` until a member of a static list has reported it.'),
      node: ref('Node'),
      url: text('Address it is queried at.'),
      isSelf: bool('Whether it is the responding node.'),
      state: memberState,
      sinceMs,
      report: ref('MemberReport'),
      clock: nullable(
        ref('MemberClock'),
        'Its clock compared with that of the responding node; null if it was never measured.',
      ),
      timeZone: nullableText('Zone of its log timestamps, by its IANA name.'),
      uptimeMs: nullableInteger('Milliseconds since it came online.'),
      lastRecordMs: nullableInteger('Epoch milliseconds of its newest record, corrected.'),
      recentErrors: nullableInteger('Records of level ERROR and above in the last 15 minutes.'),
      lastSeenMs: nullableInteger('Epoch milliseconds of its last response.'),
      problems: listOf(ref('NodeProblem'), 'Its health checks that fail: it is up, but degraded.'),
      labels: mapOf({ type: 'string' }, 'Its labels: zone, rack, any name.'),
    },
    {
      archive: ref('ShippingLag'),
      asOfMs: integer(
        'Epoch milliseconds at which this was sampled, by the clock of the responding node; absent: just now.',
      ),
    },
  ),
  ShippingLag: exactObject<ShippingLag>(
    'How far it is behind in shipping to the archive; absent if it ships nothing, or if that is not known.',
    {
      lagMs: integer('Milliseconds that the oldest record waits to be shipped.'),
      lagBytes: integer('Bytes of logs that wait to be shipped.'),
      lostBytes: integer('Bytes of logs that were deleted before they were shipped.'),
    },
  ),
  MemberClock: exactObject<MemberClock>('The clock of a member compared with that of the responding node.', {
    offsetMs: number(
      'Milliseconds to take off its times. 0 while the clock may be right; otherwise unchanged until a measurement rules it out.',
    ),
    uncertaintyMs: number('The true offset is within this many milliseconds of it.'),
  }),
};

/** The field of responses that were read from the archive at least in part. */
export const archivePart = { archive: ref('ArchivePart') };

/** What responses say about the archive. */
export const ARCHIVE_SCHEMAS = {
  MemberArchive: exactObject<MemberArchive>(
    'What the archive has of a member; absent if the archive was not asked, or knows nothing of it.',
    {
      count: integer('Records of it in the response that came from the archive.'),
      beforeMs: nullableInteger(
        'Records before this time, epoch milliseconds by the clock of the member, came from the archive, and all others from its disk. Null: all came from the archive.',
      ),
      shippedFromMs: nullableInteger(
        'Start of the time range, by the clock of the member, of which all its records are in the archive. Null: nothing was shipped.',
      ),
      shippedToMs: nullableInteger('End of that range.'),
      lostBytes: integer('Bytes of records that were deleted on its disk before they could be shipped.'),
    },
  ),
  ArchivePart: exactObject<ArchivePart>(
    'Which part of the response came from the archive; absent if it was not asked.',
    {
      records: integer('Records, or records counted, that came from the archive.'),
      beforeMs: nullableInteger(
        'Records before this time, epoch milliseconds, came from the archive, except of members whose report has another time. Null: records of any time.',
      ),
      problem: nullableText('Why what the archive has is missing in the response; null if it is not.'),
    },
  ),
};

/** The field of responses that say how much of the answer they are. */
export const coverageField = { coverage: ref('Coverage') };

export const COVERAGE_SCHEMAS = {
  Coverage: exactObject<Coverage>(
    'How much of the answer the response is. Only of a complete one may anybody say that something is not there.',
    {
      askedFromMs: nullableInteger(
        'Epoch milliseconds of the start of the time range that was asked for, by the clock of the responding node. Null: no limit.',
      ),
      askedToMs: nullableInteger('Epoch milliseconds of its end. Null: no limit.'),
      missing: listOf(ref('Missing'), 'What the response lacks of it.'),
      isComplete: bool('Whether nothing is missing.'),
    },
  ),
  Missing: exactObject<Missing>('A part of the answer that is not in the response.', {
    node: nullableText('Id of the member whose part it is; null if it is not of one member.'),
    reason: oneOf('Why: the outcome of a member, or what kept the rest from being read.', [
      ...MISSING_OUTCOMES,
      'limit',
      'time budget',
      'cancelled',
      'unreadable',
      'part',
      'archive',
      'registry',
    ]),
    detail: nullableText('The cause, for people.'),
    asOfMs: nullableInteger('Epoch milliseconds of the earlier state that is shown instead; null if there is none.'),
    isExpected: bool('Nothing to worry about: the member has left in order.'),
  }),
};
