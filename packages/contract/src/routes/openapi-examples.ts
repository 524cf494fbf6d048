import { PortholeError, toProblem } from '../errors/errors.ts';
import type { SentTypes } from '../schemas/response-types.ts';

/* One response of each kind, for the OpenAPI document. The compiler holds each against its type, a test against its schema. */

const AT_MS = Date.UTC(2026, 10, 15, 10);

const NODE: SentTypes['Node'] = {
  hostIp: '10.0.0.12',
  hostName: 'broker-1',
  grpcPort: 7301,
  httpPort: 7300,
  version: '0.1.0',
  onlineTime: AT_MS - 3_600_000,
};

const CONFIG: SentTypes['NodeConfig'] = {
  config: '[query]\ntimeout = "30s"\npassword = "******"\n',
  node: NODE,
};

const RECORD: SentTypes['FoundRecord'] = {
  type: 'record',
  file: 'broker.log',
  offset: 18_042,
  bytes: 96,
  cursor: 'MTgwNDI.Yg',
  timeMs: AT_MS,
  level: 'ERROR',
  source: 'flow/write.go:88',
  tags: ['Broker', 'Flow'],
  message: 'timeout of shard 3',
  context: { shard: 3, elapsedMs: 5012 },
};

const COVERAGE: SentTypes['ScanReport'] = {
  reason: 'exhausted',
  records: 1,
  scannedBytes: 4_194_304,
  skippedBytes: 1_048_576,
  scannedFiles: 2,
  coveredFromMs: AT_MS - 86_400_000,
  coveredToMs: AT_MS,
  problems: [],
  elapsedMs: 12,
};

const FILE: SentTypes['LogFile'] = {
  name: 'broker.log',
  size: 1_048_576,
  modifiedMs: AT_MS,
  compressed: false,
  family: 'broker.log',
  state: 'live',
  format: 'contract',
  firstTimeMs: AT_MS - 86_400_000,
  lastTimeMs: AT_MS,
  problem: null,
};

const REPORT: SentTypes['MemberReport'] = {
  id: 'broker-1',
  outcome: 'ok',
  detail: null,
  elapsedMs: 14,
  count: 1,
  asOfMs: null,
  state: 'up',
  sinceMs: AT_MS - 3_600_000,
};

const COMPLETE: SentTypes['Coverage'] = { askedFromMs: null, askedToMs: null, missing: [], isComplete: true };

const MEMBERSHIP: SentTypes['Membership'] = { kind: 'etcd', state: 'ok', detail: null, asOfMs: AT_MS };

const CLUSTER_RECORD: SentTypes['ClusterRecord'] = { ...RECORD, node: 'broker-1', atMs: AT_MS };

const CLUSTER_END: SentTypes['ClusterEnd'] = {
  type: 'end',
  reason: 'exhausted',
  records: 1,
  scannedBytes: 4_194_304,
  skippedBytes: 0,
  elapsedMs: 20,
  coveredFromMs: AT_MS - 86_400_000,
  coveredToMs: AT_MS,
  members: [REPORT],
  coverage: COMPLETE,
  membership: MEMBERSHIP,
  problems: [],
  cursor: null,
};

const SHARD = {
  name: 'shard',
  types: ['number'],
  records: 120,
  distinct: 16,
  isDistinctExact: true,
  examples: ['13', '4'],
} satisfies SentTypes['FieldSummary'];

const TOP = { by: 'shard', others: 103, missing: 1, distinct: 16, isExact: true };
const SHARD_13 = { value: '13', count: 17 };

const GROUP: SentTypes['DigestGroup'] = {
  level: 'ERROR',
  source: 'flow/write.go:88',
  shape: null,
  count: 17,
  firstMs: AT_MS - 600_000,
  lastMs: AT_MS,
  isNew: false,
  sample: RECORD,
};

/** By the schema of the response. */
export const EXAMPLES = {
  NodeConfig: CONFIG,
  NodeSettings: {
    observes: 'self',
    file: '/etc/porthole/porthole.toml',
    settings: [
      { key: 'http.port', value: 7300, default: 7300, changed: false, source: 'default', secret: false },
      { key: 'log.dir', value: '/var/log/broker', default: 'log', changed: true, source: 'file', secret: false },
    ],
    disk: { state: 'same', differs: [], detail: null },
  },
  LogList: [{ name: FILE.name, size: FILE.size }],
  LogFiles: [FILE],
  SearchItem: RECORD,
  FollowItem: RECORD,
  Histogram: {
    bucketMs: 60_000,
    buckets: [{ startMs: AT_MS, counts: { INFO: 120, ERROR: 1 } }],
    untimed: 0,
    end: COVERAGE,
  },
  Digest: { groups: [GROUP], totalGroups: 1, ungrouped: 0, end: COVERAGE },
  Fields: { fields: [SHARD], totalFields: 1, records: 121, isSample: false, end: COVERAGE },
  Top: { ...TOP, values: [SHARD_13], end: COVERAGE },
  QueryExplanation: {
    query: 'level>=warn shard=13',
    words: 'level is WARN or higher and shard is 13',
  },
  NodeDescription: {
    node: NODE,
    observes: 'service',
    clockMs: AT_MS,
    timeZone: 'Europe/Berlin',
    utcOffsetMinutes: 60,
    uptimeMs: 3_600_000,
    versions: { porthole: '0.1.0', node: '22.21.1' },
    capabilities: ['config', 'logList', 'logView', 'logSearch'],
    problems: [],
    role: 'broker',
    labels: { rack: '7', zone: 'eu-1' },
  },
  ClusterNodes: {
    cluster: 'production',
    membership: MEMBERSHIP,
    nodes: [
      {
        id: 'broker-1',
        role: 'broker',
        node: NODE,
        url: 'http://10.0.0.12:7300/',
        isSelf: true,
        state: 'up',
        sinceMs: AT_MS - 3_600_000,
        report: REPORT,
        clock: { offsetMs: 0, uncertaintyMs: 0 },
        timeZone: 'Europe/Berlin',
        uptimeMs: 3_600_000,
        lastRecordMs: AT_MS,
        recentErrors: 17,
        lastSeenMs: AT_MS,
        problems: [],
        labels: { rack: '7', zone: 'eu-1' },
      },
    ],
  },
  ForgottenMember: { id: 'broker-3', members: [REPORT] },
  ClusterConfig: { configs: [{ id: 'broker-1', role: 'broker', config: CONFIG, report: REPORT }] },
  ClusterConfigDiff: {
    roles: [
      {
        role: 'broker',
        nodes: ['broker-1', 'broker-2', 'broker-3'],
        comparedKeys: 42,
        notCompared: [],
        differences: [
          {
            key: 'query.timeout',
            secret: false,
            isExpected: false,
            values: [
              { value: '30s', nodes: ['broker-1', 'broker-2'], isMajority: true, isSameMeaning: false },
              { value: '3s', nodes: ['broker-3'], isMajority: false, isSameMeaning: false },
            ],
          },
        ],
      },
    ],
    members: [REPORT],
    coverage: COMPLETE,
  },
  ClusterLogFiles: { files: [{ ...FILE, node: 'broker-1' }], members: [REPORT], coverage: COMPLETE },
  ClusterItem: CLUSTER_RECORD,
  ClusterFollowItem: CLUSTER_RECORD,
  ClusterHistogram: {
    bucketMs: 60_000,
    buckets: [{ startMs: AT_MS, counts: { ERROR: 1 }, nodes: { 'broker-1': 1 } }],
    untimed: 0,
    counted: null,
    members: [REPORT],
    coverage: COMPLETE,
  },
  ClusterFields: {
    fields: [{ ...SHARD, nodes: { 'broker-1': 120 } }],
    totalFields: 1,
    records: 121,
    isSample: false,
    counted: null,
    members: [REPORT],
    coverage: COMPLETE,
  },
  ClusterTop: {
    ...TOP,
    values: [{ ...SHARD_13, nodes: { 'broker-1': 17 } }],
    counted: null,
    members: [REPORT],
    coverage: COMPLETE,
  },
  ClusterDigest: {
    groups: [{ ...GROUP, sample: CLUSTER_RECORD, nodes: { 'broker-1': 17 } }],
    totalGroups: 1,
    ungrouped: 0,
    members: [REPORT],
    coverage: COMPLETE,
  },
  DownloadTicket: { ticket: 'q3Vn0c1pXo5k', expiresInMs: 60_000 },
  Alive: { status: 'ok' },
  Readiness: { status: 'ready', checks: [{ name: 'log directory', ok: true, detail: '/var/log/broker' }] },
  Problem: toProblem(
    new PortholeError('LOG_FILE_NOT_FOUND', 'no log file named "brocker.log": did you mean "broker.log"?'),
  ),
} as const satisfies { [Name in keyof SentTypes]?: SentTypes[Name] };

/** The closing record of each kind of stream. */
export const EXAMPLE_ENDS = {
  SearchItem: { type: 'end', ...COVERAGE, cursor: null } satisfies SentTypes['SearchEnd'],
  ClusterItem: CLUSTER_END,
} as const;
