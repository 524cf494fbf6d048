import {
  type ClusterConfig,
  type ClusterConfigDiff,
  type ClusterConfigHistory,
  type ClusterDigest,
  type ClusterEnd,
  type ClusterFields,
  type ClusterHistogram,
  type ClusterLogFiles,
  type ClusterNodes,
  type ClusterRecord,
  type ClusterTop,
  coverageOf,
  type ForgottenMember,
  type MemberReport,
  type MembershipState,
  type NodeObject,
  type RecordingHead,
} from '@porthole/contract';
import { record } from './records.ts';

const NODE: NodeObject = {
  hostIp: '10.0.0.7',
  hostName: 'db-7',
  grpcPort: 7301,
  httpPort: 7300,
  version: '1.2.3',
  onlineTime: 1_794_740_000_000,
};

const OK: MemberReport = {
  id: 'a',
  outcome: 'ok',
  detail: null,
  elapsedMs: 3,
  count: 1,
  asOfMs: null,
  state: 'up',
  sinceMs: null,
};
const DEAD: MemberReport = {
  id: 'b',
  outcome: 'refused',
  detail: 'UNREACHABLE: no connection',
  elapsedMs: 1,
  count: 0,
  asOfMs: 1_794_740_000_500,
  state: 'unreachable',
  sinceMs: 1_794_740_000_400,
};
const COVERAGE = coverageOf({ members: [OK, DEAD] }, { fromMs: 1_794_740_000_000 });
const MEMBERSHIP: MembershipState = { kind: 'static', state: 'ok', detail: null, asOfMs: 1_794_740_000_000 };

export function clusterRecord(number: number, fields: Partial<ClusterRecord> = {}): ClusterRecord {
  return { ...record(number), node: 'a', atMs: 1_794_740_000_000 + number, ...fields };
}

export const CLUSTER_END: ClusterEnd = {
  type: 'end',
  reason: 'exhausted',
  records: 2,
  scannedBytes: 10,
  skippedBytes: 0,
  coveredFromMs: 1_794_740_000_000,
  coveredToMs: 1_794_740_009_000,
  elapsedMs: 4,
  members: [OK, DEAD],
  coverage: COVERAGE,
  membership: MEMBERSHIP,
  problems: [],
  duplicates: [{ node: 'broker-1', file: 'a.log.1.gz', sameAs: 'a.log.1' }],
  cursor: null,
};

/** One of each response, with every optional part and every `null` in it somewhere. */
export const CLUSTER_RESPONSES: {
  nodes: ClusterNodes;
  forget: ForgottenMember;
  recordingHead: RecordingHead;
  config: ClusterConfig;
  configDiff: ClusterConfigDiff;
  logFiles: ClusterLogFiles;
  configHistory: ClusterConfigHistory;
  logHistogram: ClusterHistogram;
  logDigest: ClusterDigest;
  logFields: ClusterFields;
  logTop: ClusterTop;
} = {
  nodes: {
    cluster: 'porthole',
    membership: MEMBERSHIP,
    nodes: [
      {
        id: 'a',
        role: 'broker',
        labels: { zone: 'eu-1' },
        node: NODE,
        url: 'http://10.0.0.7:7300',
        isSelf: true,
        state: 'up',
        sinceMs: 1_794_740_000_300,
        report: OK,
        clock: { offsetMs: 1.5, uncertaintyMs: 0.5 },
        timeZone: 'UTC',
        uptimeMs: 5,
        lastRecordMs: 6,
        problems: [],
        recentErrors: 7,
        lastSeenMs: 8,
        archive: { lagMs: 3000, lagBytes: 4096, lostBytes: 0 },
      },
      {
        id: 'b',
        role: 'broker',
        labels: {},
        node: NODE,
        url: 'http://10.0.0.8:7300',
        isSelf: false,
        state: 'unreachable',
        sinceMs: null,
        report: DEAD,
        clock: null,
        timeZone: null,
        uptimeMs: null,
        lastRecordMs: null,
        problems: [],
        recentErrors: null,
        lastSeenMs: null,
      },
    ],
  },
  forget: { id: 'b', members: [OK] },
  recordingHead: { ageMs: 5, lostAgeMs: null, sinceMs: 1, lastRecordMs: 2, clock: null },
  config: {
    configs: [
      { id: 'a', role: 'broker', settings: null, config: { config: 'a = 1\n', node: NODE }, report: OK },
      { id: 'b', role: 'broker', config: null, settings: null, report: DEAD },
    ],
  },
  configDiff: {
    roles: [
      {
        role: 'broker',
        nodes: ['a', 'c'],
        comparedKeys: 12,
        notCompared: ['etcd.password'],
        differences: [
          {
            key: 'query.timeout',
            secret: false,
            isExpected: false,
            values: [
              { value: '10s', nodes: ['a'], isMajority: true, isSameMeaning: false },
              { value: null, nodes: ['c'], isMajority: false, isSameMeaning: false },
            ],
          },
        ],
      },
    ],
    members: [OK, DEAD],
    coverage: COVERAGE,
  },
  logFiles: {
    files: [
      {
        node: 'a',
        name: 'a.log',
        size: 5,
        modifiedMs: 1,
        family: 'a.log',
        state: 'live',
        compressed: false,
        format: 'contract',
        firstTimeMs: null,
        lastTimeMs: 3,
        problem: null,
      },
      {
        node: 'lindb',
        name: 'broker.log',
        size: 5,
        modifiedMs: null,
        family: 'broker.log',
        state: 'rotated',
        compressed: true,
        format: 'unreadable',
        firstTimeMs: 1,
        lastTimeMs: null,
        problem: 'not looked into',
      },
    ],
    members: [OK, DEAD],
    coverage: COVERAGE,
  },
  logHistogram: {
    bucketMs: 1000,
    buckets: [{ startMs: 0, counts: { ERROR: 2, NONE: 1 }, nodes: { a: 3 } }],
    untimed: 1,
    counted: null,
    members: [OK],
    coverage: COVERAGE,
  },
  logDigest: {
    groups: [
      {
        level: 'ERROR',
        source: 'a.go:1',
        shape: null,
        count: 3,
        firstMs: 1,
        lastMs: null,
        isNew: true,
        sample: clusterRecord(1),
        nodes: { a: 2, b: 1 },
      },
    ],
    totalGroups: 1,
    ungrouped: 0,
    members: [OK],
    coverage: COVERAGE,
  },
  logFields: {
    fields: [
      {
        name: 'shard',
        types: ['number', 'text'],
        records: 5,
        distinct: 2,
        isDistinctExact: false,
        examples: ['13'],
        nodes: { a: 3, b: 2 },
      },
    ],
    totalFields: 7,
    records: 9,
    isSample: true,
    counted: null,
    members: [OK],
    coverage: COVERAGE,
  },
  configHistory: {
    nodes: [
      {
        id: 'a',
        history: {
          periods: [
            { version: '0123456789abcdef', fromMs: 5, toMs: null, changes: [{ key: 'a.b', before: 1, after: null }] },
            { version: 'fedcba9876543210', fromMs: 1, toMs: 5, changes: null },
          ],
          isComplete: true,
        },
      },
      { id: 'b', history: null },
    ],
    members: [OK, DEAD],
  },
  logTop: {
    by: 'shard',
    values: [
      { value: '13', count: 5, nodes: { a: 3, b: 2 }, buckets: [{ startMs: 0, count: 5 }] },
      { value: '7', count: 1, error: 1, nodes: { a: 1 } },
    ],
    others: 3,
    missing: 1,
    distinct: 4,
    isExact: false,
    bucketMs: 1000,
    counted: { fromMs: 0, toMs: 5 },
    members: [OK, DEAD],
    coverage: COVERAGE,
  },
};
