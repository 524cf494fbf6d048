import { createInterface } from 'node:readline/promises';
import type { Client } from '@porthole/client';
import { coverageOf, failures, missingText } from '@porthole/contract';
import { EXIT, interruptSignal, ProgramError } from '../../exit.ts';
import type { Invocation } from '../../invocation.ts';
import { formatCount } from '../../output/format-units.ts';
import { visibleText } from '../../output/visible-text.ts';
import { openNode } from '../../sources/open-node.ts';
import { queryCluster } from '../../sources/query-cluster.ts';

/** Makes all nodes of the cluster forget one that left or failed. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal, args } = invocation;
  const [id = ''] = args;
  const node = await openNode(invocation);
  const signal = interruptSignal();
  const loss = visibleText(await queryCluster(node, (cluster) => describeLoss(cluster, id, signal)));
  if (!(await confirm(invocation, { facts: loss, question: `Forget ${visibleText(id)}?`, signal }))) {
    terminal.note('nothing was forgotten');
    return EXIT.different;
  }
  const { members } = await queryCluster(node, (cluster) => cluster.forget(id, { signal }));
  const missing = failures(coverageOf({ members }));
  for (const part of missing) terminal.warn(visibleText(`${missingText(part)}; it may still list ${id}`));
  return missing.length > 0 ? EXIT.partial : EXIT.ok;
}

/** What is lost for good: what the nodes still have of it. */
async function describeLoss(client: Client, id: string, signal: AbortSignal): Promise<string> {
  const selection = { nodes: [id] };
  const [histogram, listed] = await Promise.all([
    client.histogram({ ...selection, buckets: 1, store: 'nodes' }, { signal }),
    client.logFiles(selection, { signal }),
  ]);
  const { state, asOfMs } = histogram.members.find((report) => report.id === id) ?? {};
  const counts = histogram.buckets.flatMap((bucket) => Object.values(bucket.counts));
  const records = counts.reduce((sum, count) => sum + count, histogram.untimed);
  const files = listed.files.length;
  if (typeof asOfMs !== 'number') return `${id} (${state ?? 'unknown'}): nothing of it was found`;
  const asOf = new Date(asOfMs).toISOString();
  return (
    `${id} (${state ?? 'gone'}): what was recorded of it until ${asOf} will be deleted on every node: ${formatCount(records, 'record')}, ` +
    `the list of ${formatCount(files, 'file')} and its configuration`
  );
}

interface Question {
  /** What the answer is about. */
  facts: string;
  question: string;
  signal: AbortSignal;
}

/** Answered by who is at the terminal, or by `--yes`; where nobody is, `--yes` is needed. */
export async function confirm(invocation: Invocation, { facts, question, signal }: Question): Promise<boolean> {
  if (invocation.isOn('yes')) {
    invocation.terminal.note(facts);
    return true;
  }
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new ProgramError(`${facts}; there is no terminal to ask on: pass --yes to do it`);
  // Not its own line editor: that would take Ctrl-C for itself.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([lines.question(`${facts}\n${question} [y/N] `, { signal }), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    lines.close();
  }
}
