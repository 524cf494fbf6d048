import { EXIT, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';
import { diffCluster } from './cluster-diff.ts';
import { type Comparison, compareConfigs } from './compare-configs.ts';
import { readConfig } from './config-document.ts';
import { differenceTable } from './difference-tables.ts';
import { unifiedDiff } from './unified-diff.ts';

export async function run(invocation: Invocation): Promise<number> {
  const { args, terminal } = invocation;
  const [a, b] = args;
  if (a === undefined) return diffCluster(invocation);
  if (b === undefined)
    throw new ProgramError(`expected two configurations, or none to compare the whole cluster; got only ${a}`);
  const documents = await Promise.all([readConfig(invocation, a), readConfig(invocation, b)]);
  const comparison = compareConfigs(...documents);
  const { differences, uncomparable } = comparison;
  await terminal.write(render(invocation.text('output') ?? 'table', { names: [a, b], comparison, terminal }));
  if (uncomparable.length > 0) {
    const keys = uncomparable.length === 1 ? '1 key' : `${uncomparable.length} keys`;
    terminal.note(`${keys} not compared (secret on both sides): ${visibleText(uncomparable.join(', '))}`);
  }
  const stale = documents.flatMap(({ staleness }) => staleness ?? []);
  for (const staleness of stale) terminal.warn(visibleText(staleness));
  if (differences.length > 0) return EXIT.different;
  return stale.length > 0 ? EXIT.partial : EXIT.ok;
}

interface Rendering {
  names: readonly [string, string];
  comparison: Comparison;
  terminal: Terminal;
}

function render(output: string, { names, comparison, terminal }: Rendering): string {
  const { differences, uncomparable, all } = comparison;
  const [a, b] = names;
  if (output === 'json')
    return `${JSON.stringify({ a, b, equal: differences.length === 0, differences, uncomparable }, null, 2)}\n`;
  if (differences.length === 0) return '';
  if (output === 'table') return differenceTable(names, differences, terminal);
  return unifiedDiff(names, all)
    .map((line) => `${paint(terminal.isTty ? visibleText(line) : line, terminal)}\n`)
    .join('');
}

function paint(line: string, { colors }: Terminal): string {
  if (/^(?:---|\+\+\+) /.test(line)) return colors.bold(line);
  if (line.startsWith('@@')) return colors.cyan(line);
  if (line.startsWith('-')) return colors.red(line);
  return line.startsWith('+') ? colors.green(line) : line;
}
