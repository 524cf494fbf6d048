import type { NodeClient } from '@porthole/client';
import { isPattern } from '@porthole/contract';
import type { SourceChoice } from '../../state/view.ts';
import { ClusterSource } from './cluster-source.ts';
import { fetchDisjointChoices, mayOverlap } from './disjoint-choices.ts';
import type { LogSource } from './log-source.ts';
import { MergedSource } from './merged-source.ts';
import { NodeSource } from './node-source.ts';
import type { KnownNodes } from './shown-record.ts';

export interface SourceDeps {
  client: Pick<NodeClient, 'cluster'>;
  /** The members as they were told last, if they were: for their clocks. */
  clusterNodes: KnownNodes;
}

/** Where the records of these logs come from; of all logs of all nodes when none is chosen. */
export function createSource(choices: readonly SourceChoice[], { client, clusterNodes }: SourceDeps): LogSource {
  const { cluster } = client;
  if (choices.length === 0) return new ClusterSource({ cluster, members: {}, log: null });
  const openSources = (own: readonly SourceChoice[]) =>
    groupByLog(own).map(({ log, nodes }) => {
      const [id] = nodes;
      if (log !== null && id !== undefined && nodes.length === 1 && !isPattern(id))
        return new NodeSource({ id, node: cluster.member(id), log, clusterNodes });
      return new ClusterSource({ cluster, members: { nodes }, log });
    });
  const nodes = [...new Set(choices.map(({ node }) => node).filter((node) => !isPattern(node)))];
  if (mayOverlap(choices)) {
    const open = async (options: { signal?: AbortSignal }) =>
      openSources(await fetchDisjointChoices(choices, cluster, options));
    return new MergedSource({ nodes, open, cluster });
  }
  const sources = openSources(choices);
  const [only] = sources;
  return only && sources.length === 1 ? only : new MergedSource({ nodes, open: async () => sources, cluster });
}

interface LogOfNodes {
  log: SourceChoice['log'];
  nodes: string[];
}

/** The same log of several nodes is one question to the cluster. */
function groupByLog(choices: readonly SourceChoice[]): LogOfNodes[] {
  const groups = new Map<string, LogOfNodes>();
  for (const { node, log } of choices) {
    const name = log === null ? '' : `${log.kind} ${log.name}`;
    const group = groups.get(name) ?? { log, nodes: [] };
    if (!group.nodes.includes(node)) group.nodes.push(node);
    groups.set(name, group);
  }
  return [...groups.values()];
}
