import type { Machine } from './machine.ts';
import type { Row } from './row.ts';

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
