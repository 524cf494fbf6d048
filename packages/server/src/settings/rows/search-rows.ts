import { duration, integer, size } from '../kinds/number-kinds.ts';
import { setting } from './setting-row.ts';

/** What questions about records may cost. */
export const SEARCH_ROWS = {
  workers: setting({
    name: 'workers',
    kind: integer({ min: 1, max: 64 }),
    default: 2,
    about: 'Threads that scan logs. Searches, histograms and digests share them.',
  }),
  maxQueued: setting({
    name: 'max-queued',
    kind: integer({ min: 1, max: 100_000 }),
    default: 64,
    about: 'How many searches, histograms and digests may be under way or wait for a thread; more are refused.',
  }),
  budgetMs: setting({
    name: 'budget',
    kind: duration({ min: '10ms', max: '1d' }),
    default: 30_000,
    about:
      'How long one question may look at logs; what was found by then is the answer, and a cursor goes on from there. A histogram or digest ends before `http.answer-timeout` in any case.',
  }),
  maxRecords: setting({
    name: 'max-records',
    kind: integer({ min: 1, max: 1_000_000 }),
    default: 10_000,
    about: 'The most records one search may ask for.',
  }),
  maxIndexBytes: setting({
    name: 'max-index-memory',
    kind: size({ min: '0B', max: '16GiB' }),
    default: 16 * 1024 ** 2,
    about: 'Memory for what earlier scans have seen, which lets later ones skip parts of files. 0: nothing is kept.',
  }),
} as const;

/** What following logs may cost. */
export const FOLLOW_ROWS = {
  bufferBytes: setting({
    name: 'buffer',
    kind: size({ min: '64KiB', max: '1GiB' }),
    default: 4 * 1024 ** 2,
    about:
      'What is kept per log for followers that read slowly. One that falls behind further is told of the gap and goes on at the end.',
  }),
  maxLogs: setting({
    name: 'max-logs',
    kind: integer({ min: 1, max: 100_000 }),
    default: 2000,
    about:
      'How many logs are followed at the same time, by all clients together; each holds a file open. A follow of all logs reports those that it leaves out. Fewer where the process may not open as many files beside its connections.',
  }),
  heartbeatMs: setting({
    name: 'heartbeat',
    kind: duration({ min: '100ms', max: '1h' }),
    default: 15_000,
    about: 'After so long without news a follower is sent a comment, so that nothing on the way takes it for dead.',
  }),
  pollMs: setting({
    name: 'poll',
    kind: duration({ min: '10ms', max: '1m' }),
    default: 250,
    about: 'How often a followed log is looked at where the system tells of no changes (network file systems).',
  }),
} as const;
