import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join, relative } from 'node:path';
import type { Cleanup } from './cleanup.ts';
import { ROOT } from './context.ts';
import { type PeerName, peerVersion } from './peers.ts';
import { runProgram } from './program.ts';
import type { GroupResult } from './run-bench.ts';

export interface Report {
  machine: Machine;
  date: Date;
  args: readonly string[];
  groups: readonly GroupResult[];
  commands: readonly string[];
  /** By name. */
  files: ReadonlyMap<string, string>;
}

/** All figures, and how long each group took. */
export function renderSummary(groups: readonly GroupResult[], { showsTargets }: { showsTargets: boolean }): string {
  const head = ['figure', 'Porthole', 'against', 'ratio', ...(showsTargets ? ['target', ''] : [])];
  const cells = groups.flatMap(({ name, rows, failure }) => {
    const shown = rows.map(({ figure, porthole, against = '', ratio, target }) => {
      const judged = [target?.text ?? '', target === undefined ? '' : target.isMet ? 'met' : 'missed'];
      return [`${name}: ${figure}`, porthole, against, ratio?.toFixed(3) ?? '', ...(showsTargets ? judged : [])];
    });
    return failure === undefined ? shown : [...shown, head.map((_, column) => (column === 0 ? `${name}: failed` : ''))];
  });
  const times = groups.map(({ name, seconds }) => [name, seconds.toFixed(0)]);
  const total = groups.reduce((sum, { seconds }) => sum + seconds, 0);
  return [markdownTable([head, ...cells]), markdownTable([['group', 's'], ...times, ['all', total.toFixed(0)]])].join(
    '\n\n',
  );
}

/** The tables with all that is needed to judge them and to repeat them. */
export function renderReport({ machine, date, args, groups, commands, files }: Report): string {
  const { cpu, cores, memoryGib, kernel, node, peers, commit } = machine;
  const rounds = groups.flatMap(({ name, rows }) =>
    rows.filter((row) => row.rounds !== undefined).map((row) => `- ${name}: ${row.figure}: ${row.rounds}`),
  );
  const sections = [
    `# Bench of ${date.toISOString().slice(0, 10)}`,
    `\`npm run bench${args.length > 0 ? ` -- ${args.join(' ')}` : ''}\``,
    `- cpu: ${cpu}, ${cores} cores\n- memory: ${memoryGib} GiB\n- kernel: ${kernel}\n- node: ${node}\n- peers: ${peers.join(', ') || 'none'}\n- commit: ${commit}\n- time: ${date.toISOString()}`,
    renderSummary(groups, { showsTargets: true }),
    ...(rounds.length > 0 ? [`## Rounds\n\n${rounds.join('\n')}`] : []),
    `## Commands\n\n${fenced(commands.join('\n'))}`,
    ...[...files].map(([name, text]) => `### ${name}\n\n${fenced(text.trimEnd())}`),
  ];
  return `${sections.join('\n\n')}\n`;
}

function fenced(text: string): string {
  return `\`\`\`text\n${text}\n\`\`\``;
}

/** Columns padded, so that it reads in a terminal too. */
function markdownTable(lines: readonly (readonly string[])[]): string {
  const [head = []] = lines;
  const widths = head.map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0)));
  const show = (line: readonly string[]) =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [show(head), rule, ...lines.slice(1).map(show)].join('\n');
}

/** The newest report replaces the one before; gives the path within the checkout. */
export function saveReport(report: string): string {
  const dir = join(ROOT, 'bench', 'results');
  mkdirSync(dir, { recursive: true });
  const path = join(dir, 'latest.md');
  writeFileSync(path, report);
  return relative(ROOT, path);
}

interface Machine {
  cpu: string;
  cores: number;
  memoryGib: number;
  kernel: string;
  node: string;
  /** Versions as the programs print them. */
  peers: readonly string[];
  /** The commit measured, with a mark when the checkout differs from it. */
  commit: string;
}

export async function describeMachine(peers: ReadonlyMap<PeerName, string>, cleanup: Cleanup): Promise<Machine> {
  return {
    cpu: await cpuModel(cleanup),
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    kernel: `${type()} ${release()} ${process.arch}`,
    node: process.version,
    peers: await Promise.all([...peers].map(([name, path]) => peerVersion(name, path, cleanup))),
    commit: await describeCommit(cleanup),
  };
}

/** On ARM only lscpu knows the name. */
async function cpuModel(cleanup: Cleanup): Promise<string> {
  const model = cpus()[0]?.model.trim() ?? '';
  if (model !== '' && model !== 'unknown') return model;
  const output = await runProgram(['lscpu'], cleanup, { env: { ...process.env, LC_ALL: 'C' } }).catch(() => '');
  return /^Model name:\s+(.+)$/m.exec(output)?.[1] ?? process.arch;
}

async function describeCommit(cleanup: Cleanup): Promise<string> {
  const git = (...args: string[]) => runProgram(['git', ...args], cleanup, { cwd: ROOT }).then((text) => text.trim());
  try {
    const commit = await git('rev-parse', '--short', 'HEAD');
    return (await git('status', '--porcelain')) === '' ? commit : `${commit} with changes`;
  } catch {
    return 'none';
  }
}
