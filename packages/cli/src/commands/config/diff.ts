import { type ClusterConfigDiff, isDrift } from '@porthole/contract';
import { EXIT, ProgramError } from '../../exit.ts';
import { interruptSignal } from '../../interrupt.ts';
import type { Invocation } from '../../invocation.ts';
import type { Terminal } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';
import { Receipt } from '../../records/receipt.ts';
import { memberSelection } from '../../sources/member-selection.ts';
import { openNode } from '../../sources/open-node.ts';
import { queryCluster } from '../../sources/query-cluster.ts';
import { type Comparison, compareConfigs } from './compare-configs.ts';
import { readConfig } from './config-document.ts';
import { differenceTable, outlierTable } from './difference-tables.ts';
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
    return `${JSON.stringify({ a, b, equal: differences.length + uncomparable.length === 0, differences, uncomparable }, null, 2)}\n`;
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

/** Compares the configurations of all nodes, role by role. */
async function diffCluster(invocation: Invocation): Promise<number> {
  const { terminal } = invocation;
  const output = invocation.text('output') ?? 'table';
  if (output === 'unified')
    throw new ProgramError('-o unified needs two configurations; use -o table or -o json for the cluster');
  const by = invocation.text('by');
  const request = { ...memberSelection(invocation), ...(by !== undefined && { by }) };
  const node = await openNode(invocation);
  const options = { signal: interruptSignal() };
  const diff = await queryCluster(node, (cluster) => cluster.configDiff(request, options));
  const hasDrift = diff.roles.some(({ differences }) => differences.some(isDrift));
  const receipt = new Receipt();
  receipt.add(diff);
  const equal = !hasDrift && !receipt.isPartial && diff.roles.every(({ notCompared }) => notCompared.length === 0);
  if (output === 'json') await terminal.write(`${JSON.stringify({ equal, ...diff }, null, 2)}\n`);
  else await writeTable(diff, invocation);
  receipt.warn(terminal);
  if (hasDrift) return EXIT.different;
  return receipt.isPartial ? EXIT.partial : EXIT.ok;
}

async function writeTable({ roles }: ClusterConfigDiff, invocation: Invocation): Promise<void> {
  const { terminal } = invocation;
  const withExpected = invocation.isOn('expected');
  for (const { role: name, label, nodes, comparedKeys, notCompared, withoutFingerprint = {}, differences } of roles) {
    const role = label === undefined ? name : `${name} ${label || '(no label)'}`;
    const shown = differences.filter(({ isExpected }) => withExpected || !isExpected);
    const hidden = differences.length - shown.length;
    terminal.note(`${visibleText(role)}: ${count(nodes.length, 'node')}, ${count(comparedKeys, 'key')} compared`);
    if (hidden > 0)
      terminal.note(
        `  ${count(hidden, 'key')} ${hidden === 1 ? 'differs' : 'differ'} as expected; show with --expected`,
      );
    const secrets = notCompared.map((key) => {
      const without = withoutFingerprint[key] ?? [];
      const isOfAll = without.length === 0 || without.length === nodes.length;
      return isOfAll ? key : `${key} (no fingerprint of ${without.join(', ')})`;
    });
    if (secrets.length > 0) terminal.note(`  not compared (secret): ${visibleText(secrets.join(', '))}`);
    if (shown.length > 0) await terminal.write(outlierTable(role, shown, terminal));
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
