import type { NodeClient } from '@porthole/client';
import { type ClusterState, codeOf } from '@porthole/contract';
import { nearestNames } from '@porthole/logs';
import { visibleText } from '../output/visible-text.ts';
import { ProgramError } from '../program-error.ts';
import { type NodeRef, parseNodeRef } from './node-ref.ts';

/** More names than this do not help. */
const SHOWN_IDS = 10;

/** What an answer about the cluster is, or why this node has none. */
export async function queryCluster<T>(node: NodeClient, ask: (cluster: ClusterState) => Promise<T>): Promise<T> {
  try {
    return await ask(node.cluster);
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
    throw new ProgramError(`the node at ${node.url} does not answer for a cluster: ask a node that does with --url`, {
      cause: error,
    });
  }
}

/** The ids of all members, up or not. */
async function fetchMemberIds(node: NodeClient): Promise<string[]> {
  const { nodes } = await queryCluster(node, (cluster) => cluster.nodes());
  return nodes.map(({ id }) => id);
}

/** What a word with a colon means on a node: some members of its cluster; `undefined`: a log of its own. */
export async function resolveNodeRef(node: NodeClient, word: string): Promise<NodeRef | undefined> {
  const ids = await fetchMemberIds(node).catch(async (error: unknown) => {
    if (await hasLog(node, word)) return undefined;
    throw error;
  });
  if (ids === undefined) return undefined;
  const found = parseNodeRef(word, ids);
  if (found?.file !== undefined && /[*?]/.test(found.file))
    throw new ProgramError(`${word}: * and ? are for nodes; give one log, or none for all`);
  if (found || (await hasLog(node, word))) return found;
  throw unknownNode(word.slice(0, word.indexOf(':')), ids);
}

/** The one member a word means. */
export function onlyMember({ node, ids }: Pick<NodeRef, 'node' | 'ids'>): string {
  const [id = '', ...others] = ids;
  if (others.length > 0) throw new ProgramError(`${node} means ${ids.length} nodes: ${formatIds(ids)}; name one`);
  return id;
}

async function hasLog(node: NodeClient, name: string): Promise<boolean> {
  return (await node.listLogs()).some((entry) => entry.name === name);
}

function unknownNode(name: string, ids: readonly string[]): ProgramError {
  const [nearest] = nearestNames(name, [...ids]);
  const hint = nearest === undefined ? `its nodes are ${formatIds(ids)}` : `did you mean ${nearest}?`;
  return new ProgramError(visibleText(`the cluster has no node ${JSON.stringify(name)}; ${hint}`));
}

function formatIds(ids: readonly string[]): string {
  const more = ids.length - SHOWN_IDS;
  return `${ids.slice(0, SHOWN_IDS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
