import { coverageOf, failures, missingText } from '@porthole/contract';
import { EXIT } from '../../exit.ts';
import { interruptSignal } from '../../interrupt.ts';
import type { Invocation } from '../../invocation.ts';
import { visibleText } from '../../output/visible-text.ts';
import { openNode } from '../../sources/open-node.ts';
import { queryCluster } from '../../sources/query-cluster.ts';

/** Makes all nodes of the cluster forget one that left or failed. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, args } = invocation;
  const [id = ''] = args;
  const node = await openNode(invocation);
  const signal = interruptSignal();
  const { members } = await queryCluster(node, (cluster) => cluster.forget(id, { signal }));
  const missing = failures(coverageOf({ members }));
  for (const part of missing) terminal.warn(visibleText(`${missingText(part)}; it may still list ${id}`));
  return missing.length > 0 ? EXIT.partial : EXIT.ok;
}
