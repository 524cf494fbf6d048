import type { NodeClient } from '@porthole/client';
import { type ClusterNode, type ClusterNodes, codeOf } from '@porthole/contract';
import { createZone } from '@porthole/logs';
import { EXIT } from '../../exit-codes.ts';
import type { Invocation } from '../../invocation.ts';
import { visibleText } from '../../output/visible-text.ts';
import { explainReport, explainStale } from '../../records/explain-report.ts';
import { openNode } from '../../sources/open-node.ts';
import { isDegraded, nodeTable } from './node-table.ts';

/** Lists the members of the cluster and their state. */
export async function run(invocation: Invocation): Promise<number> {
  const { terminal } = invocation;
  const client = await openNode(invocation);
  const { membership, nodes, nowMs } = await fetchNodes(client);
  const format = invocation.text('output') ?? 'table';
  if (format === 'json') await terminal.write(nodes.map((node) => `${JSON.stringify(node)}\n`).join(''));
  else if (format === 'names') await terminal.write(nodes.map(({ id }) => `${id}\n`).join(''));
  else await terminal.write(nodeTable(nodes, { zone: createZone(invocation.text('time-zone')), nowMs, terminal }));
  if (membership?.state === 'stale') terminal.warn(visibleText(explainStale(membership)));
  // A node that left cleanly is not missing.
  const silent = nodes.filter(({ state }) => state !== 'up' && state !== 'left');
  for (const { report } of silent) terminal.warn(visibleText(explainReport(report)));
  const degraded = nodes.filter(isDegraded);
  for (const { id, problems } of degraded)
    for (const { check, detail } of problems) terminal.warn(visibleText(`${id}: ${check}: ${detail}`));
  return silent.length + degraded.length > 0 ? EXIT.partial : EXIT.ok;
}

interface NodesResponse extends Pick<ClusterNodes, 'nodes'> {
  membership?: ClusterNodes['membership'];
  /** By the clock of the queried node, like all times of the response. */
  nowMs: number;
}

/** A node that only implements the contract knows only itself. */
async function fetchNodes(client: NodeClient): Promise<NodesResponse> {
  try {
    const { nodes, membership } = await client.cluster.nodes();
    return { nodes, membership, nowMs: (await client.describe()).clockMs };
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
    return { nodes: [await describeSelf(client)], nowMs: Date.now() };
  }
}

async function describeSelf(client: NodeClient): Promise<ClusterNode> {
  const startedMs = performance.now();
  const { node } = await client.config();
  const elapsedMs = Math.round(performance.now() - startedMs);
  const id = node.hostName || client.url;
  return {
    id,
    role: 'node',
    node,
    url: client.url,
    isSelf: true,
    state: 'up',
    sinceMs: null,
    report: { id, outcome: 'ok', detail: null, elapsedMs, count: 1, asOfMs: null },
    clock: null,
    timeZone: null,
    uptimeMs: null,
    lastRecordMs: null,
    recentErrors: null,
    lastSeenMs: null,
    problems: [],
  };
}
