import type { ClusterItem, ClusterRecord } from '@porthole/contract';
import { familyOf } from '../ask/scope.ts';

/** A cut before all times: nothing comes from the archive. After all times: everything does. */
export const NOTHING_MS = -8.64e15;
export const EVERYTHING_MS = 8.64e15;

/**
 * The cut of each node, `*` for all others: its records before this time, by its own clock, come from the archive, and
 * all others from its disk. So each record comes from exactly one of them, whatever the clocks say. A log that needs
 * another cut than the rest of its node has its own, under `node/log`: ids of nodes have no slash.
 */
export type Cuts = Readonly<Record<string, number>>;

/** The cuts of logs that are not those of their nodes, by node. */
export type LogCuts = ReadonlyMap<string, ReadonlyMap<string, number>>;

export function logKey(node: string, log: string): string {
  return `${node}/${log}`;
}

export function readLogCuts(cuts: Cuts): LogCuts {
  const byNode = new Map<string, Map<string, number>>();
  for (const [key, cutMs] of Object.entries(cuts)) {
    const slash = key.indexOf('/');
    if (slash < 0) continue;
    const node = key.slice(0, slash);
    const logs = byNode.get(node) ?? new Map<string, number>();
    byNode.set(node, logs.set(key.slice(slash + 1), cutMs));
  }
  return byNode;
}

/** The cut of a log, or of the logs of a node that have none of their own. */
export function cutOf(cuts: Cuts, node: string, log?: string): number {
  const own = log === undefined ? undefined : logKey(node, log);
  const key = [own, node].find((name) => name !== undefined && Object.hasOwn(cuts, name)) ?? '*';
  return cuts[key] ?? NOTHING_MS;
}

/** Own time before which the records of a node come from the archive; `null`: all of them do. */
export function beforeOf(cuts: Cuts, node: string): number | null {
  const cutMs = cutOf(cuts, node);
  return cutMs === EVERYTHING_MS ? null : cutMs;
}

/** A member is asked from the earliest cut of its logs: leaves out what it returned of logs before theirs. */
export async function* withoutArchived(
  found: AsyncIterable<ClusterItem[]>,
  plan: { cuts: Cuts; logCuts: LogCuts },
): AsyncGenerator<ClusterItem[], void, undefined> {
  for await (const items of found) yield items.filter((item) => item.type === 'end' || !isOfArchive(plan, item));
}

function isOfArchive(
  { cuts, logCuts }: { cuts: Cuts; logCuts: LogCuts },
  { node, file, timeMs }: ClusterRecord,
): boolean {
  if (timeMs === undefined || !logCuts.has(node)) return false;
  return timeMs < cutOf(cuts, node, familyOf(file));
}
