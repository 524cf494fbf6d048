import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './context.ts';
import type { PortholeServer } from './porthole.ts';
import { cpuSeconds, watchResident } from './process-usage.ts';
import { type QueryNode, startFakeMembers, startQueryNode } from './query-node.ts';
import { showNumber } from './rounds.ts';
import { below, type Row } from './row.ts';

const MEMBERS = 1000;
const MOST_MB = 100;
const MOST_CPU_PERCENT = 2;

/** What members have in their logs: a few lines, or more than anybody keeps as last words. */
const SHORT_LOG_RECORDS = 10;
const LONG_LOG_RECORDS = 1000;

const SAMPLE_MS = 250;
const POLL_MS = 500;

/** Members that are new are listened to some ten a second, so the start is over when all were heard. */
const SNAPSHOTS_MS = 300_000;

/** What the start needed is given back by the garbage collector when a process has had little to do for a while. */
const SETTLE_MS = 60_000;

interface Usage {
  /** Highest. */
  residentBytes: number;
  cpuPercent: number;
}

/**
 * What members cost while nobody asks for anything: clocks are measured and last words are kept. A node that is alone and
 * those with members are watched at the same time; each of them hardly does anything.
 */
export async function idleRows(context: BenchContext): Promise<Row[]> {
  const { idleClusterSeconds: seconds } = context.effort;
  context.log(`  ${MEMBERS} members that nobody asks for`);
  const short = await startFakeMembers(context, MEMBERS, SHORT_LOG_RECORDS);
  const long = await startFakeMembers(context, MEMBERS, LONG_LOG_RECORDS);
  const logDir = context.tempDir();
  const alone = await startQueryNode(context, { logDir, members: [] });
  const withShort = await startQueryNode(context, { logDir, members: short.answering });
  const withLong = await startQueryNode(context, { logDir, members: long.answering });
  const [startShort, startLong] = await Promise.all([settled(withShort), settled(withLong)]);
  const [base, ofShort, ofLong] = await Promise.all([
    watch(alone, seconds),
    watch(withShort, seconds),
    watch(withLong, seconds),
  ]);
  for (const started of [alone, withShort, withLong, short, long]) await started.stop();
  return [
    ...usageRows(`${SHORT_LOG_RECORDS} records each`, { base, used: ofShort, startBytes: startShort, seconds }),
    ...usageRows(`${LONG_LOG_RECORDS} records each`, { base, used: ofLong, startBytes: startLong, seconds }),
  ];
}

/** Waits until the start is over; gives the most memory it had until then. */
async function settled({ snapshotDir: wordsDir, pid }: QueryNode): Promise<number> {
  const resident = watchResident(pid, SAMPLE_MS);
  const snapshotCount = () => (existsSync(wordsDir) ? readdirSync(wordsDir).length : 0);
  for (const end = performance.now() + SNAPSHOTS_MS; snapshotCount() < MEMBERS; await sleep(POLL_MS)) {
    if (performance.now() > end) throw new Error(`only ${snapshotCount()} of ${MEMBERS} members were heard of`);
  }
  await sleep(SETTLE_MS);
  return resident.stop();
}

async function watch({ pid }: PortholeServer, seconds: number): Promise<Usage> {
  const before = cpuSeconds(pid);
  const resident = watchResident(pid, SAMPLE_MS);
  await sleep(seconds * 1000);
  return { residentBytes: resident.stop(), cpuPercent: ((cpuSeconds(pid) - before) / seconds) * 100 };
}

interface IdleFigures {
  base: Usage;
  used: Usage;
  startBytes: number;
  seconds: number;
}

function usageRows(logs: string, { base, used, startBytes, seconds }: IdleFigures): Row[] {
  const figure = `${MEMBERS} members that nobody asks for, ${logs}, ${seconds} s`;
  const mb = (bytes: number) => bytes / 1e6;
  const addedMb = mb(used.residentBytes - base.residentBytes);
  const addedPercent = used.cpuPercent - base.cpuPercent;
  return [
    {
      figure: `${figure}: resident memory they add, MB`,
      porthole: showNumber(addedMb),
      against: `with ${showNumber(mb(used.residentBytes))}, alone ${showNumber(mb(base.residentBytes))}, at most ${showNumber(mb(startBytes))} while all were heard first`,
      bar: below(addedMb, MOST_MB, 'MB'),
    },
    {
      figure: `${figure}: processor time they add, % of one core`,
      porthole: showNumber(addedPercent),
      against: `with ${showNumber(used.cpuPercent)}, alone ${showNumber(base.cpuPercent)}`,
      bar: below(addedPercent, MOST_CPU_PERCENT, '%'),
    },
  ];
}
