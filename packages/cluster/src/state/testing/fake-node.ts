import { type NodeDescription, type NodeObject, type NodeState, PortholeError } from '@porthole/contract';
import type { DigestGroup, FoundRecord, LogFileDetails, SearchEnd } from '@porthole/logs/types';

export const NODE: NodeObject = {
  hostIp: '10.8.0.21',
  hostName: 'broker-0',
  grpcPort: 9001,
  httpPort: 9000,
  version: '1.0.0',
  onlineTime: 1_790_000_000_000,
};

/** A node with the given operations only, like an older or contract-only one. */
export function fakeNode(able: Partial<NodeState> = {}): NodeState {
  const lacks = (operation: string) => new PortholeError('NOT_SUPPORTED', `the node has no ${operation}`);
  const refuse = (operation: string) => () => Promise.reject(lacks(operation));
  async function* refuseStream<T>(): AsyncGenerator<T[], void, undefined> {
    yield* [];
    throw lacks('stream');
  }
  return {
    describe: refuse('describe'),
    config: refuse('config'),
    settings: refuse('settings'),
    listLogs: refuse('listLogs'),
    logFiles: refuse('logFiles'),
    viewLog: refuse('viewLog'),
    openLog: refuse('openLog'),
    async *search() {
      yield* [];
      throw lacks('search');
    },
    followLogs: () => refuseStream(),
    logHistogram: refuse('logHistogram'),
    logDigest: refuse('logDigest'),
    logFields: refuse('logFields'),
    logTop: refuse('logTop'),
    async *events() {
      yield* [];
      throw lacks('events');
    },
    followEvents: () => refuseStream(),
    configHistory: refuse('configHistory'),
    configVersion: refuse('configVersion'),
    ...able,
  };
}

/** Never responds and ignores its signal. */
export function hang(): Promise<never> {
  return new Promise(() => {});
}

export function description(given: Partial<NodeDescription> = {}): NodeDescription {
  return {
    node: NODE,
    observes: 'self',
    clockMs: 0,
    timeZone: 'Europe/Berlin',
    utcOffsetMinutes: 60,
    uptimeMs: 5000,
    versions: { porthole: '1.0.0', node: '20.19.0' },
    capabilities: [],
    problems: [],
    role: 'node',
    labels: {},
    ...given,
  };
}

export function file(given: Partial<LogFileDetails> = {}): LogFileDetails {
  return {
    name: 'app.log',
    size: 10,
    modifiedMs: 3000,
    family: 'app.log',
    state: 'live',
    compressed: false,
    format: 'contract',
    firstTimeMs: 1000,
    lastTimeMs: 2000,
    problem: null,
    ...given,
  };
}

export function record(message: string, given: Partial<FoundRecord> = {}): FoundRecord {
  return {
    type: 'record',
    file: 'app.log',
    offset: 0,
    bytes: message.length,
    cursor: `c-${message}`,
    message,
    ...given,
  };
}

export function end(given: Partial<SearchEnd> = {}): SearchEnd {
  return {
    type: 'end',
    reason: 'exhausted',
    records: 0,
    scannedBytes: 0,
    skippedBytes: 0,
    scannedFiles: 1,
    coveredFromMs: null,
    coveredToMs: null,
    problems: [],
    cursor: null,
    elapsedMs: 1,
    ...given,
  };
}

export function group(given: Partial<DigestGroup> = {}): DigestGroup {
  return {
    level: 'ERROR',
    source: 'a.go:1',
    shape: null,
    count: 1,
    firstMs: 1000,
    lastMs: 2000,
    isNew: false,
    sample: record('boom', { timeMs: 2000 }),
    ...given,
  };
}
