import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext } from './context.ts';
import { atMost, type Row } from './group.ts';
import { startWriter } from './line-writer.ts';
import { type PortholeServer, startPorthole } from './porthole.ts';
import { cpuSeconds } from './process-usage.ts';
import { freePort } from './program.ts';
import { median, showNumber } from './rounds.ts';

const NODES = 5;
const LINES_PER_SECOND = 1000;

/** What members wrote before is recorded in this time, and the code compiled. */
const WARM_UP_MS = 15_000;

/** How often it is looked how old the newest recorded records are. */
const AGE_MS = 4000;

const MOST_PERCENT = 5;
const MOST_AGE_MS = 1000;

/** What it costs that members record each other: processor time of five busy nodes with recorders, and without. */
export async function recorderRows(context: BenchContext): Promise<Row[]> {
  context.log(`  ${NODES} nodes that record each other`);
  const without = await measure(context, 0);
  const recorded = await measure(context, 2);
  const percent = recorded.percent - without.percent;
  const figure = `${NODES} nodes of ${LINES_PER_SECOND} lines/s, two record each`;
  return [
    {
      figure: `${figure}: processor time of a node for it, % of a core`,
      porthole: showNumber(percent),
      against: `without recorders ${showNumber(without.percent)}`,
      bar: atMost(percent, MOST_PERCENT),
    },
    {
      figure: `${figure}: age of the newest recorded record, ms, median`,
      porthole: showNumber(median(recorded.agesMs)),
      against: `most ${showNumber(Math.max(...recorded.agesMs))}`,
      bar: atMost(median(recorded.agesMs), MOST_AGE_MS),
    },
  ];
}

async function measure(context: BenchContext, recorders: number): Promise<{ percent: number; agesMs: number[] }> {
  const seconds = context.effort.idleClusterSeconds;
  const ports = await Promise.all(Array.from({ length: NODES }, freePort));
  const members = ports.map((port, index) => `n${index + 1}=http://127.0.0.1:${port}`).join(',');
  const dirs = ports.map(() => context.tempDir());
  const writers = dirs.map((dir) => startWriter(join(dir, 'busy.log'), { linesPerSecond: LINES_PER_SECOND }));
  const nodes = await Promise.all(
    ports.map((port, index) => {
      const flags = ['--http-port', String(port), '--cluster-members', members, '--cluster-node-id', `n${index + 1}`];
      return startPorthole(context, dirs[index] ?? '', [...flags, '--cluster-recorders', String(recorders)]);
    }),
  );
  await delay(WARM_UP_MS);
  const before = nodes.map(({ pid }) => cpuSeconds(pid));
  const agesMs: number[] = [];
  const startedMs = performance.now();
  while (performance.now() - startedMs < seconds * 1000) {
    await delay(AGE_MS);
    if (recorders > 0) agesMs.push(...(await newestAges(nodes)));
  }
  const tookMs = performance.now() - startedMs;
  const used = nodes.map(({ pid }, index) => cpuSeconds(pid) - (before[index] ?? 0));
  for (const writer of writers) writer.stop();
  for (const node of nodes) await node.stop();
  return { percent: (median(used) * 1e5) / tookMs, agesMs };
}

/** How long ago the newest record of each member was written that any other node has recorded. */
async function newestAges(nodes: readonly PortholeServer[]): Promise<number[]> {
  const ages = await Promise.all(
    nodes.map(async (_, index) => {
      const heads = await Promise.all(
        nodes.map(async ({ url }) => {
          const response = await fetch(`${url}/api/v1/cluster/recordings/n${index + 1}`);
          const { lastRecordMs = 0 } = response.ok ? ((await response.json()) as { lastRecordMs?: number }) : {};
          return lastRecordMs;
        }),
      );
      return Date.now() - Math.max(...heads);
    }),
  );
  return ages;
}
