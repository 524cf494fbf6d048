import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from '../context.ts';
import { createFollowedFile, runFollow } from '../follow-run.ts';
import type { Group } from '../group.ts';
import { atMost, below, type Row } from '../group.ts';
import { type PortholeServer, startPorthole } from '../porthole.ts';
import { type Reads, readIoCounters } from '../process-usage.ts';
import { showNumber } from '../rounds.ts';

const FAST_LINES = 1000;
const SLOW_LINES = 10;
const MOST_P99_MS = 50;

const FOLLOWERS = 500;
const SHARED_LINES = 100;
const MOST_READS = 1.5;

/**
 * Long lines, so that what is read of the file stands out from the few bytes of other reads: of change events, and of the
 * descriptors by which threads wake each other.
 */
const SHARED_LINE_BYTES = 1000;

const BASELINE_MS = 3000;

/** Beyond the 128 of the default settings. */
const MANY_STREAMS = ['--http-max-streams', '1000'];

/** Lines as they are written: how soon they arrive, and what many who follow the same file cost. */
export const followGroup: Group = {
  name: 'follow',
  needs: [],
  async run(context) {
    const { followSeconds: seconds } = context.effort;
    return [
      ...(await latencyRows(context, { linesPerSecond: FAST_LINES, seconds, mostP99Ms: MOST_P99_MS })),
      ...(await latencyRows(context, { linesPerSecond: SLOW_LINES, seconds: seconds / 2 })),
      ...(await readRows(context, seconds / 2)),
    ];
  },
};

interface LatencyOptions {
  linesPerSecond: number;
  seconds: number;
  mostP99Ms?: number;
}

async function latencyRows(context: BenchContext, options: LatencyOptions): Promise<Row[]> {
  const { linesPerSecond, seconds, mostP99Ms } = options;
  context.log(`  ${linesPerSecond} lines/s`);
  const { dir, server } = await startFollowed(context);
  const { latenciesMs } = await runFollow(context, { dir, server, followers: 1, linesPerSecond, seconds });
  await server.stop();
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  const figure = `follow ${linesPerSecond} lines/s for ${seconds} s, from the write to the client`;
  return [
    { figure: `${figure}, p50 in ms`, porthole: showNumber(at(0.5)) },
    {
      figure: `${figure}, p99 in ms`,
      porthole: showNumber(at(0.99)),
      rounds: `highest ${showNumber(at(1))} of ${sorted.length} lines`,
      ...(mostP99Ms !== undefined && { bar: below(at(0.99), mostP99Ms) }),
    },
  ];
}

/** The same lines for one follower and for many: what the node reads must not be more. */
async function readRows(context: BenchContext, seconds: number): Promise<Row[]> {
  const one = await readsPerAppend(context, 1, seconds);
  const many = await readsPerAppend(context, FOLLOWERS, seconds);
  const ratio = many.calls / one.calls;
  const figure = `follow ${SHARED_LINES} lines/s by ${FOLLOWERS}, all receive every line`;
  return [
    {
      figure: `${figure}: calls that read, of any kind, per append`,
      porthole: showNumber(many.calls),
      against: `by 1 follower ${showNumber(one.calls)}`,
      ratio,
      bar: atMost(ratio, MOST_READS),
    },
    {
      figure: `${figure}: bytes read per byte appended`,
      porthole: showNumber(many.bytes),
      against: `by 1 follower ${showNumber(one.bytes)}`,
      bar: atMost(many.bytes, MOST_READS),
    },
  ];
}

/** Per line and per byte of it, without what the node reads when nothing is written. */
async function readsPerAppend(context: BenchContext, followers: number, seconds: number): Promise<Reads> {
  context.log(`  ${followers} followers`);
  const { dir, server } = await startFollowed(context, MANY_STREAMS);
  const idle = await idleReadsPerMs(server);
  let [before, after]: [Reads, Reads] = [idle, idle];
  let tookMs = 0;
  const run = await runFollow(context, {
    dir,
    server,
    followers,
    seconds,
    linesPerSecond: SHARED_LINES,
    lineBytes: SHARED_LINE_BYTES,
    onBegin() {
      before = readIoCounters(server.pid);
      tookMs = performance.now();
    },
    onEnd() {
      after = readIoCounters(server.pid);
      tookMs = performance.now() - tookMs;
    },
  });
  await server.stop();
  return {
    calls: (after.calls - before.calls - idle.calls * tookMs) / run.lines,
    bytes: (after.bytes - before.bytes - idle.bytes * tookMs) / run.bytes,
  };
}

async function idleReadsPerMs({ pid }: PortholeServer): Promise<Reads> {
  const before = readIoCounters(pid);
  await sleep(BASELINE_MS);
  const after = readIoCounters(pid);
  return { calls: (after.calls - before.calls) / BASELINE_MS, bytes: (after.bytes - before.bytes) / BASELINE_MS };
}

async function startFollowed(
  context: BenchContext,
  flags: readonly string[] = [],
): Promise<{ dir: string; server: PortholeServer }> {
  const dir = context.tempDir();
  createFollowedFile(dir);
  return { dir, server: await startPorthole(context, dir, flags) };
}
