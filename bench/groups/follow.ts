import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from '../context.ts';
import { createFollowedFile, runFollow } from '../follow-run.ts';
import type { Group } from '../group.ts';
import { atMost, type Row } from '../group.ts';
import { type PortholeServer, startPorthole } from '../porthole.ts';
import { type Reads, readIoCounters } from '../process-usage.ts';
import { quantile, showNumber } from '../rounds.ts';

const FAST_LINES = 1000;
const SLOW_LINES = 10;

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
  // tail is of the same package.
  needs: ['wc'],
  async run(context) {
    const { followSeconds: seconds } = context.effort;
    return [
      ...(await latencyRows(context, { linesPerSecond: FAST_LINES, seconds })),
      ...(await latencyRows(context, { linesPerSecond: SLOW_LINES, seconds })),
      ...(await readRows(context, seconds)),
    ];
  },
};

interface LatencyOptions {
  linesPerSecond: number;
  seconds: number;
}

/** Beside `tail -F`, which is told of each write and sends nothing over a network: how much is added to that. */
async function latencyRows(context: BenchContext, { linesPerSecond, seconds }: LatencyOptions): Promise<Row[]> {
  context.log(`  ${linesPerSecond} lines/s`);
  const { dir, server } = await startFollowed(context);
  const options = { dir, server, followers: 1, besideTail: true, linesPerSecond, seconds };
  const { latenciesMs, tailMs } = await runFollow(context, options);
  await server.stop();
  return [0.5, 0.99].map((share) => {
    const [ours, theirs] = [quantile(latenciesMs, share), quantile(tailMs, share)];
    return {
      figure: `${linesPerSecond} lines/s for ${seconds} s, from the write to the client, p${share * 100} in ms`,
      porthole: showNumber(ours),
      against: `tail -F ${showNumber(theirs)}`,
      ratio: ours / theirs,
      rounds: `highest ${showNumber(quantile(latenciesMs, 1))} of ${latenciesMs.length} lines`,
    };
  });
}

/** The same lines for one follower and for many: what the node reads must not be more. */
async function readRows(context: BenchContext, seconds: number): Promise<Row[]> {
  const { followers } = context.effort;
  const one = await readsPerAppend(context, 1, seconds);
  const many = await readsPerAppend(context, followers, seconds);
  const ratio = many.calls / one.calls;
  const figure = `${SHARED_LINES} lines/s by ${followers}, all receive every line`;
  return [
    {
      figure: `${figure}: calls that read, of any kind, per append`,
      porthole: showNumber(many.calls),
      against: `by 1 follower ${showNumber(one.calls)}`,
      ratio,
      target: atMost(ratio, MOST_READS),
    },
    {
      figure: `${figure}: bytes read per byte appended`,
      porthole: showNumber(many.bytes),
      against: `by 1 follower ${showNumber(one.bytes)}`,
      target: atMost(many.bytes, MOST_READS),
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
