import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchContext, ROOT } from '../context.ts';
import { atMost, type Group, type Row } from '../group.ts';
import { startPorthole } from '../porthole.ts';
import { cpuSeconds, residentBytes } from '../process-usage.ts';
import { type Program, startProgram } from '../program.ts';
import { fastest, showAll, showNumber } from '../rounds.ts';
import { runPeer } from '../run-peer.ts';

/** A server that does nothing, and has none of our code to load. */
const BARE_SERVER = `require('node:http').createServer().listen(0, '127.0.0.1', () => console.log('ready'))`;

const MOST_START_RATIO = 10;
const MOST_MEMORY_RATIO = 2.5;
const MOST_PROGRAM_RATIO = 3;

const MB = 1_000_000;

/** What a node costs that nobody asks anything, and the program that does nothing, against Node.js without our code. */
export const startGroup: Group = {
  name: 'start',
  needs: [],
  run: async (context) => [await startRow(context), await programRow(context), ...(await idleRows(context))],
};

async function startRow(context: BenchContext): Promise<Row> {
  const logDir = context.tempDir();
  const ours: number[] = [];
  const bare: number[] = [];
  for (let number = 0; number < context.effort.starts; number++) {
    const server = await startPorthole(context, logDir);
    ours.push(server.startMs);
    await server.stop();
    const startedAt = performance.now();
    const { stop } = await startBareServer(context);
    bare.push(performance.now() - startedAt);
    await stop();
  }
  return ratioRow('start to ready line, ms', { ours, bare, mostRatio: MOST_START_RATIO, peer: 'a bare server' });
}

async function programRow(context: BenchContext): Promise<Row> {
  const ours: number[] = [];
  const bare: number[] = [];
  for (let number = 0; number < context.effort.starts; number++) {
    ours.push((await runPeer(context, 'node', ['packages/cli/bin/porthole.cjs', 'version'], { cwd: ROOT })).tookMs);
    bare.push((await runPeer(context, 'node', ['-e', '0'])).tookMs);
  }
  return ratioRow('porthole version, ms', { ours, bare, mostRatio: MOST_PROGRAM_RATIO, peer: 'node -e 0' });
}

interface Compared {
  ours: readonly number[];
  bare: readonly number[];
  mostRatio: number;
  peer: string;
}

function ratioRow(figure: string, { ours, bare, mostRatio, peer }: Compared): Row {
  const ratio = fastest(ours) / fastest(bare);
  return {
    figure: `${figure} (fastest of ${ours.length})`,
    porthole: showNumber(fastest(ours)),
    against: `${peer} ${showNumber(fastest(bare))}`,
    ratio,
    target: atMost(ratio, mostRatio),
    rounds: `${showAll(ours)} against ${showAll(bare)}`,
  };
}

async function idleRows(context: BenchContext): Promise<Row[]> {
  const { idleSeconds } = context.effort;
  const { pid, stop } = await startPorthole(context, context.tempDir());
  const bare = await startBareServer(context);
  // The start settles.
  await sleep((idleSeconds * 1000) / 2);
  const idleMb = residentBytes(pid) / MB;
  const bareMb = residentBytes(bare.child.pid ?? 0) / MB;
  const [cpuBefore, before] = [cpuSeconds(pid), performance.now()];
  await sleep(idleSeconds * 1000);
  const cpuPercent = (100 * (cpuSeconds(pid) - cpuBefore)) / ((performance.now() - before) / 1000);
  await stop();
  await bare.stop();
  const ratio = idleMb / bareMb;
  return [
    {
      figure: `idle resident memory ${idleSeconds / 2} s after start, MB`,
      porthole: showNumber(idleMb),
      against: `a bare server ${showNumber(bareMb)}`,
      ratio,
      target: atMost(ratio, MOST_MEMORY_RATIO),
    },
    { figure: `idle CPU time over ${idleSeconds} s, % of one core`, porthole: showNumber(cpuPercent) },
  ];
}

/** Resolves when it listens. */
async function startBareServer(context: BenchContext): Promise<Program> {
  const command = [process.execPath, '-e', BARE_SERVER];
  context.recordCommand(command);
  const program = startProgram(command, context.cleanup);
  await new Promise<void>((resolve, reject) => {
    program.child.stdout?.once('data', () => resolve());
    program.exited.then(() => reject(new Error(`the bare server ended: ${program.output}`)), reject);
  });
  return program;
}
