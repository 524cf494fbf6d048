import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join, relative } from 'node:path';
import type { Cleanup } from './cleanup.ts';
import { ROOT } from './context.ts';
import type { Row } from './group.ts';
import { type PeerName, peerVersion } from './peers.ts';
import { runProgram } from './program.ts';

export interface Report {
  machine: Machine;
  date: Date;
  args: readonly string[];
  rows: readonly Row[];
  commands: readonly string[];
  /** By name. */
  files: ReadonlyMap<string, string>;
}

export function renderTable(rows: readonly Row[]): string {
  const cells = rows.map(({ figure, porthole, against = '', ratio, bar }) => [
    figure,
    porthole,
    against,
    ratio?.toFixed(3) ?? '',
    bar?.text ?? '',
    bar === undefined ? '' : bar.met ? 'met' : 'not met',
  ]);
  return markdownTable([['figure', 'Porthole', 'against', 'ratio', 'bar', ''], ...cells]);
}

/** The table with all that is needed to judge it and to repeat it. */
export function renderReport({ machine, date, args, rows, commands, files }: Report): string {
  const { cpu, cores, memoryGib, kernel, node, peers, commit } = machine;
  const rounds = rows.filter((row) => row.rounds !== undefined).map((row) => `- ${row.figure}: ${row.rounds}`);
  const sections = [
    `# Bench of ${date.toISOString().slice(0, 10)}`,
    `\`npm run bench${args.length > 0 ? ` -- ${args.join(' ')}` : ''}\``,
    `- cpu: ${cpu}, ${cores} cores\n- memory: ${memoryGib} GiB\n- kernel: ${kernel}\n- node: ${node}\n- peers: ${peers.join(', ') || 'none'}\n- commit: ${commit}\n- time: ${date.toISOString()}`,
    renderTable(rows),
    ...(rounds.length > 0 ? [`## Rounds\n\n${rounds.join('\n')}`] : []),
    `## Commands\n\n${fenced(commands.join('\n'))}`,
    ...[...files].filter(([name]) => !isChart(name)).map(([name, text]) => `### ${name}\n\n${fenced(text.trimEnd())}`),
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

/** Writes the report under a name that is not taken; gives the path within the checkout. */
export function saveReport(report: Report): string {
  const dir = join(ROOT, 'bench', 'results');
  const name = `${report.date.toISOString().slice(0, 10)}-${machineSlug(report.machine)}`;
  mkdirSync(dir, { recursive: true });
  let path = join(dir, `${name}.md`);
  for (let number = 2; existsSync(path); number++) path = join(dir, `${name}-${number}.md`);
  writeFileSync(path, renderReport(report));
  for (const [file, text] of report.files) if (isChart(file)) writeFileSync(join(dir, file), text);
  return relative(ROOT, path);
}

function isChart(name: string): boolean {
  return name.endsWith('.svg');
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

/** Short enough for a file name. */
function machineSlug({ cpu, cores }: Machine): string {
  const words = cpu.replace(/\((?:R|TM)\)|@.*|\b(?:CPU|Processor)\b/gi, ' ');
  return `${words}-${cores}c`.toLowerCase().replace(/[^a-z0-9]+/g, '-');
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
