import type { ClusterConfigDiff } from '@porthole/contract';
import { EXIT, ProgramError } from '../../exit.ts';
import { interruptSignal } from '../../interrupt.ts';
import type { Invocation } from '../../invocation.ts';
import { visibleText } from '../../output/visible-text.ts';
import { Receipt } from '../../records/receipt.ts';
import { openNode } from '../../sources/open-node.ts';
import { queryCluster } from '../../sources/query-cluster.ts';
import { isDrift, outlierTable } from './difference-tables.ts';

/** Compares the configurations of all nodes, role by role. */
export async function diffCluster(invocation: Invocation): Promise<number> {
  const { terminal } = invocation;
  const output = invocation.text('output') ?? 'table';
  if (output === 'unified')
    throw new ProgramError('-o unified needs two configurations; use -o table or -o json for the cluster');
  const role = invocation.text('role');
  const node = await openNode(invocation);
  const options = { signal: interruptSignal() };
  const diff = await queryCluster(node, (cluster) => cluster.configDiff(role === undefined ? {} : { role }, options));
  if (output === 'json') await terminal.write(`${JSON.stringify(diff, null, 2)}\n`);
  else await writeTable(diff, invocation);
  const receipt = new Receipt();
  receipt.add(diff);
  receipt.warn(terminal);
  if (diff.roles.some(({ differences }) => differences.some(isDrift))) return EXIT.different;
  return receipt.isPartial ? EXIT.partial : EXIT.ok;
}

async function writeTable({ roles }: ClusterConfigDiff, invocation: Invocation): Promise<void> {
  const { terminal } = invocation;
  const withExpected = invocation.isOn('expected');
  for (const { role, nodes, comparedKeys, notCompared, differences } of roles) {
    const shown = differences.filter(({ isExpected }) => withExpected || !isExpected);
    const hidden = differences.length - shown.length;
    terminal.note(`${visibleText(role)}: ${count(nodes.length, 'node')}, ${count(comparedKeys, 'key')} compared`);
    if (hidden > 0)
      terminal.note(
        `  ${count(hidden, 'key')} ${hidden === 1 ? 'differs' : 'differ'} as expected; show with --expected`,
      );
    if (notCompared.length > 0) terminal.note(`  not compared (secret): ${visibleText(notCompared.join(', '))}`);
    if (shown.length > 0) await terminal.write(outlierTable(role, shown, terminal));
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
