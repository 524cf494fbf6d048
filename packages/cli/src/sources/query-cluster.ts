import type { Client } from '@porthole/client';
import { type CallOptions, codeOf, type MemberReport, type MemberSelection, matchesPattern } from '@porthole/contract';
import { nearestNames } from '@porthole/logs';
import { ProgramError } from '../exit.ts';
import { visibleText } from '../output/visible-text.ts';

/** More would not help. */
const SHOWN_IDS = 10;

/** The result of a query, or of another one if the node does not support it. */
export async function unlessUnsupported<T>(
  query: () => Promise<T>,
  other: (error: unknown) => T | Promise<T>,
): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (codeOf(error) !== 'NOT_SUPPORTED') throw error;
    return other(error);
  }
}

/** Queries the cluster of a node; explains the error if the node does not support that. */
export async function queryCluster<T>(node: Client, query: (client: Client) => Promise<T>): Promise<T> {
  return unlessUnsupported<T>(
    () => query(node),
    (cause) => {
      throw new ProgramError(`the node at ${node.url} does not support cluster queries; use another node with --url`, {
        cause,
      });
    },
  );
}

/** The ids of all members, whether up or not. */
export async function fetchMemberIds(node: Client): Promise<string[]> {
  const { nodes } = await queryCluster(node, (cluster) => cluster.nodes());
  return nodes.map(({ id }) => id);
}

/** Resolves a word with a colon to members of the cluster; `undefined` if it is a log of the node itself. */
export async function resolveNodeRef(
  node: Client,
  word: string,
  { withPast = false }: { withPast?: boolean } = {},
): Promise<NodeRef | undefined> {
  const ids = await fetchMemberIds(node).catch(async (error: unknown) => {
    if (await hasLog(node, word)) return undefined;
    throw error;
  });
  if (ids === undefined) return undefined;
  const found = parseNodeRef(word, ids) ?? (withPast ? await findPastNode(node, word) : undefined);
  if (found?.file !== undefined && /[*?]/.test(found.file))
    throw new ProgramError(
      `invalid log name in ${JSON.stringify(word)}: * and ? only work in node names; name one log, or none for all`,
    );
  if (found || (await hasLog(node, word))) return found;
  throw unknownNode(word.slice(0, word.indexOf(':')), ids);
}

/** A node that is no longer a member, but in the archive. */
async function findPastNode(node: Client, word: string): Promise<NodeRef | undefined> {
  try {
    const reports = await fetchArchived(node, {});
    const found = parseNodeRef(
      word,
      reports.map(({ id }) => id),
    );
    return found && { ...found, isPast: true };
  } catch (error) {
    // Without an archive there is no past.
    if (!NO_ARCHIVE.has(codeOf(error))) throw error;
    return undefined;
  }
}

/** What the archive has of each node, by the cheapest request that reports it. A node without an archive refuses it. */
export async function fetchArchived(
  node: Client,
  selection: MemberSelection,
  options?: CallOptions,
): Promise<readonly MemberReport[]> {
  const request = { order: 'newest', limit: 1, before: 0, after: 0, store: 'archive', fromMs: 0, toMs: 1 } as const;
  for await (const items of node.search({ nodes: ['*'], ...request, ...selection }, options))
    for (const item of items) if (item.type === 'end') return item.members;
  throw new ProgramError(`the response of ${node.url} has no end`);
}

const NO_ARCHIVE: ReadonlySet<string> = new Set(['NOT_SUPPORTED', 'ARCHIVE_UNAVAILABLE', 'ROUTE_NOT_FOUND']);

/** The single member a reference matches. */
export function onlyMember({ node, ids }: Pick<NodeRef, 'node' | 'ids'>): string {
  const [id = '', ...others] = ids;
  if (others.length > 0) throw new ProgramError(`${node} matches ${ids.length} nodes (${formatIds(ids)}); name one`);
  return id;
}

async function hasLog(node: Client, name: string): Promise<boolean> {
  return (await node.listLogs()).some((entry) => entry.name === name);
}

function unknownNode(name: string, ids: readonly string[]): ProgramError {
  const [nearest] = nearestNames(name, [...ids]);
  const hint = nearest === undefined ? `known nodes: ${formatIds(ids)}` : `did you mean ${nearest}?`;
  return new ProgramError(visibleText(`the cluster has no node ${JSON.stringify(name)}; ${hint}`));
}

function formatIds(ids: readonly string[]): string {
  const more = ids.length - SHOWN_IDS;
  return `${ids.slice(0, SHOWN_IDS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The parsed form of `broker-1:lind-broker.log`. */
interface NodeRef {
  /** A member id, or a pattern with `*` and `?`. */
  node: string;
  /** `undefined`: all its logs. */
  file: string | undefined;
  /** The matching members, at least one. */
  ids: readonly string[];
  /** They are no longer members: only the archive has their records. */
  isPast?: true;
}

/**
 * Parses `NODE:FILE`, `NODE:` or an id that contains a colon. Ids and file names may both contain colons: the longest prefix
 * that names a member wins. `undefined` if no prefix does.
 */
export function parseNodeRef(word: string, members: readonly string[]): NodeRef | undefined {
  for (let end = word.length; end > 0; end = word.lastIndexOf(':', end - 1)) {
    const node = word.slice(0, end);
    const ids = node.includes(':') || end < word.length ? members.filter((id) => matchesPattern(id, node)) : [];
    if (ids.length > 0) return { node, file: word.slice(end + 1) || undefined, ids };
  }
  return undefined;
}
