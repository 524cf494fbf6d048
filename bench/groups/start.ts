import type { BenchContext } from '../context.ts';
import type { Group } from '../group.ts';
import { atMost, type Row } from '../group.ts';
import { startPorthole } from '../porthole.ts';
import { cpuSeconds, residentBytes } from '../process-usage.ts';
import { median, showNumber } from '../rounds.ts';

const MOST_START_MS = 500;

/** Without a single request, after the start has settled. */
const SETTLE_MS = 5_000;
const MOST_IDLE_MB = 90;
const MB = 1_000_000;

/** What a node costs that nobody asks anything: the time to its ready line, then memory and processor. */
export const startGroup: Group = {
  name: 'start',
  needs: [],
  run: async (context) => [await startRow(context), ...(await idleRows(context))],
};

async function startRow(context: BenchContext): Promise<Row> {
  const { starts } = context.effort;
  const logDir = context.tempDir();
  const times: number[] = [];
  for (let number = 0; number < starts; number++) {
    const server = await startPorthole(context, logDir);
    times.push(server.startMs);
    await server.stop();
  }
  const startMs = median(times);
  return {
    figure: `start to ready line, ms (median of ${starts})`,
    porthole: showNumber(startMs),
    bar: atMost(startMs, MOST_START_MS),
    rounds: times.map(showNumber).join(', '),
  };
}

async function idleRows(context: BenchContext): Promise<Row[]> {
  const { idleSeconds } = context.effort;
  const { pid, stop } = await startPorthole(context, context.tempDir());
  await sleep(SETTLE_MS);
  const idleMb = residentBytes(pid) / MB;
  const [cpuBefore, before] = [cpuSeconds(pid), performance.now()];
  await sleep(idleSeconds * 1000);
  const cpuPercent = (100 * (cpuSeconds(pid) - cpuBefore)) / ((performance.now() - before) / 1000);
  await stop();
  return [
    {
      figure: `idle resident memory ${SETTLE_MS / 1000} s after start, MB`,
      porthole: showNumber(idleMb),
      bar: atMost(idleMb, MOST_IDLE_MB),
    },
    { figure: `idle processor over ${idleSeconds} s, % of one core`, porthole: showNumber(cpuPercent) },
  ];
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
