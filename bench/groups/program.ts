import { RARE_TEXT } from '../broker-mix.ts';
import { type BenchContext, ROOT } from '../context.ts';
import type { Group } from '../group.ts';
import { atMost, below, type Row } from '../group.ts';
import { runProgram } from '../program.ts';
import { median, showNumber } from '../rounds.ts';
import { type PeerRun, runPeer } from '../run-peer.ts';
import { ensureSearchFolder, type SearchFolder } from '../search-files.ts';

const BINARY = 'packages/cli/bin/porthole.cjs';

const MOST_VERSION_MS = 120;

/** lnav reads all of the file before it shows anything; beyond this nobody waits. */
const LNAV_MAX_MS = 60_000;

const MOST_RATIO = 1.5;

/** What one would type to find the same in a file. */
interface CommandLines {
  figure: string;
  porthole: readonly string[];
  rg: readonly string[];
  grep: readonly string[];
  lnav?: string;
  mostRatio?: number;
  /** Whether all print the same lines: the newest are fewer than all. */
  isSame: boolean;
}

const LEVEL = { rg: ['\\tERROR\\t'], grep: ['-F', '\tERROR\t'] };

const LINES: readonly CommandLines[] = [
  {
    figure: 'porthole logs FILE -l error: the newest 200',
    porthole: ['-l', 'error'],
    ...LEVEL,
    lnav: ':set-min-log-level error',
    mostRatio: MOST_RATIO,
    isSame: false,
  },
  { figure: 'porthole logs FILE -l error -n all', porthole: ['-l', 'error', '-n', 'all'], ...LEVEL, isSame: true },
  {
    figure: 'porthole logs FILE -g TEXT --case-sensitive -n all',
    porthole: ['-g', RARE_TEXT, '--case-sensitive', '-n', 'all'],
    rg: ['-F', RARE_TEXT],
    grep: ['-F', RARE_TEXT],
    isSame: true,
  },
];

/** The program on a file, without any node, from its start to its end: against programs that search the same file. */
export const programGroup: Group = {
  name: 'program',
  needs: ['rg', 'grep', 'lnav'],
  async run(context) {
    const folder = await ensureSearchFolder(context);
    const rows: Row[] = [await versionRow(context)];
    for (const lines of LINES) rows.push(await linesRow(context, folder, lines));
    return rows;
  },
};

async function versionRow(context: BenchContext): Promise<Row> {
  const times = { porthole: [] as number[], node: [] as number[] };
  for (let number = 0; number < context.effort.starts; number++) {
    times.porthole.push(await measureTime(context, [BINARY, 'version']));
    times.node.push(await measureTime(context, ['-e', '0']));
  }
  const tookMs = median(times.porthole);
  return {
    figure: 'porthole version, ms',
    porthole: showNumber(tookMs),
    against: `node -e 0 ${showNumber(median(times.node))}`,
    rounds: `${times.porthole.map(showNumber).join(', ')} against ${times.node.map(showNumber).join(', ')}`,
    bar: below(tookMs, MOST_VERSION_MS),
  };
}

async function measureTime(context: BenchContext, args: readonly string[]): Promise<number> {
  context.recordCommand(['node', ...args]);
  const startedAt = performance.now();
  await runProgram([process.execPath, ...args], context.cleanup, { cwd: ROOT });
  return performance.now() - startedAt;
}

async function linesRow(context: BenchContext, folder: SearchFolder, lines: CommandLines): Promise<Row> {
  context.log(`  ${lines.figure}`);
  const { path, size } = folder;
  const runs = {
    porthole: () =>
      runPeer(context, 'node', [BINARY, 'logs', path, '--log-zone', 'UTC', ...lines.porthole], { cwd: ROOT }),
    rg: () => runPeer(context, 'rg', ['--no-config', ...lines.rg, path]),
    grep: () => runPeer(context, 'grep', [...lines.grep, path], { env: { LC_ALL: 'C' } }),
  };
  // Once before: the file comes into the page cache, and all must find the same.
  const [ours, rg] = [await runs.porthole(), await runs.rg()];
  if (lines.isSame && ours.lines !== rg.lines)
    throw new Error(`${lines.figure}: Porthole prints ${ours.lines} lines, ripgrep ${rg.lines}`);
  const times: Record<keyof typeof runs, number[]> = { porthole: [], rg: [], grep: [] };
  for (let round = 0; round < context.effort.rounds; round++) {
    const names = Object.keys(runs) as (keyof typeof runs)[];
    for (const name of round % 2 === 0 ? names : names.reverse()) times[name].push((await runs[name]()).tookMs);
  }
  const lnav = lines.lnav === undefined ? undefined : await runLnav(context, path, lines.lnav);
  const ratio = median(times.porthole) / median(times.rg);
  const others = [`ripgrep ${showNumber(median(times.rg))}`, `grep ${showNumber(median(times.grep))}`];
  if (lnav) others.push(`lnav ${lnav.gaveUp ? 'given up after ' : ''}${showNumber(lnav.tookMs)}`);
  return {
    figure: `${size}: ${lines.figure} (${ours.lines} of ${rg.lines} lines), ms`,
    porthole: showNumber(median(times.porthole)),
    against: others.join(', '),
    ratio,
    rounds: `${times.porthole.map(showNumber).join(', ')} against ripgrep ${times.rg.map(showNumber).join(', ')}`,
    ...(lines.mostRatio !== undefined && { bar: atMost(ratio, lines.mostRatio) }),
  };
}

/** lnav keeps its state in the home directory. */
function runLnav(context: BenchContext, path: string, command: string): Promise<PeerRun> {
  return runPeer(context, 'lnav', ['-n', '-c', command, path], {
    env: { HOME: context.tempDir() },
    maxMs: LNAV_MAX_MS,
  });
}
