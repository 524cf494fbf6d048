import type { ClusterDigest } from '@porthole/client';

const SPAN_MS = 15 * 60_000;

/** The minutes a call site is counted over: the last ones, or those up to a record that is older. */
export function callSiteSpan(
  timeMs: number | undefined,
  nowMs: number,
): { fromMs: number; toMs: number; text: string } {
  if (timeMs === undefined || nowMs - timeMs < SPAN_MS) return { fromMs: nowMs - SPAN_MS, toMs: nowMs, text: '15 min' };
  return { fromMs: timeMs - SPAN_MS, toMs: timeMs + 1, text: 'the 15 min before it' };
}

export interface CallSiteCount {
  count: number;
  /** Nodes on which it spoke, the most talkative first. */
  nodes: string[];
  firstMs: number | null;
  /** Nodes that did not answer. */
  silent: string[];
}

export function countCallSite({ groups, members }: Pick<ClusterDigest, 'groups' | 'members'>): CallSiteCount {
  const counts = new Map<string, number>();
  for (const { nodes } of groups)
    for (const [node, count] of Object.entries(nodes)) counts.set(node, (counts.get(node) ?? 0) + count);
  const times = groups.map(({ firstMs }) => firstMs).filter((timeMs) => timeMs !== null);
  return {
    count: groups.reduce((sum, group) => sum + group.count, 0),
    nodes: [...counts].toSorted(([, a], [, b]) => b - a).map(([node]) => node),
    firstMs: times.length === 0 ? null : Math.min(...times),
    silent: members.filter(({ outcome }) => outcome !== 'ok').map(({ id }) => id),
  };
}
