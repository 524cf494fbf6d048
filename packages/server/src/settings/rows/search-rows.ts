import { duration, integer, size } from '../kinds/number-kinds.ts';
import { setting } from '../kinds/setting-kind.ts';

/** Limits of searches, histograms and digests. */
export const SEARCH_ROWS = {
  workers: setting({
    name: 'workers',
    kind: integer({ min: 1, max: 64 }),
    default: 2,
    about: 'Worker threads that scan logs, shared by searches, histograms and digests.',
  }),
  maxQueued: setting({
    name: 'max-queued',
    kind: integer({ min: 1, max: 100_000 }),
    default: 64,
    about: 'Maximum number of running and queued searches, histograms and digests; more are refused.',
  }),
  budgetMs: setting({
    name: 'budget',
    kind: duration({ min: '10ms', max: '1d' }),
    default: 30_000,
    about:
      'Time budget of one query. When it is used up, the response contains what was found, with a cursor to continue. A histogram or digest always ends before `http.answer-timeout`.',
  }),
  maxRecords: setting({
    name: 'max-records',
    kind: integer({ min: 1, max: 1_000_000 }),
    default: 10_000,
    about: 'Maximum number of records per search.',
  }),
  maxIndexBytes: setting({
    name: 'max-index-memory',
    kind: size({ min: '0B', max: '16GiB' }),
    default: 16 * 1024 ** 2,
    about: 'Memory for the block index, which lets later scans skip parts of files. 0: no index.',
  }),
} as const;

/** Limits of follows. */
export const FOLLOW_ROWS = {
  bufferBytes: setting({
    name: 'buffer',
    kind: size({ min: '64KiB', max: '1GiB' }),
    default: 4 * 1024 ** 2,
    about:
      'Buffer per followed log for slow clients. A client that falls further behind gets a gap event and continues at the end.',
  }),
  maxLogs: setting({
    name: 'max-logs',
    kind: integer({ min: 1, max: 100_000 }),
    default: 2000,
    about:
      'Maximum number of logs followed at the same time by all clients together; each holds a file open. A follow of all logs reports the ones it leaves out. Lowered automatically if the process may not open that many files.',
  }),
  heartbeatMs: setting({
    name: 'heartbeat',
    kind: duration({ min: '100ms', max: '1h' }),
    default: 15_000,
    about: 'Interval of heartbeats sent to followers of quiet logs, so that proxies keep the connection open.',
  }),
  pollMs: setting({
    name: 'poll',
    kind: duration({ min: '10ms', max: '1m' }),
    default: 250,
    about:
      'How often a followed log is checked for changes where the system does not report them (network file systems).',
  }),
} as const;
