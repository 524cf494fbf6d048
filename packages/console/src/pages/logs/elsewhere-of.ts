import type { ClusterItem, ClusterRecord } from '@porthole/client';
import { timeOf, toneOf } from '../../log-view/record-text.ts';

/** So many lines say what others did; the rest is one step away. */
const MAX_RECORDS = 8;

const RANKS = { error: 0, warning: 1, plain: 2, quiet: 3 } as const;

/** What others said at the moment of a record: the worst first chosen, then the nearest; in the order of time. */
export function elsewhereOf(items: readonly ClusterItem[], record: ClusterRecord): ClusterRecord[] {
  const atMs = timeOf(record) ?? 0;
  const distance = (other: ClusterRecord) => Math.abs((timeOf(other) ?? 0) - atMs);
  return items
    .filter((item) => item.type === 'record')
    .filter(({ node }) => node !== record.node)
    .toSorted((a, b) => RANKS[toneOf(a.level)] - RANKS[toneOf(b.level)] || distance(a) - distance(b))
    .filter(isNew())
    .slice(0, MAX_RECORDS)
    .toSorted((a, b) => (timeOf(a) ?? 0) - (timeOf(b) ?? 0));
}

/** The same words of the same node once: the first, which is the nearest. */
function isNew(): (record: ClusterRecord) => boolean {
  const told = new Set<string>();
  return ({ node, source, message }) => {
    const words = JSON.stringify([node, source, message]);
    const isFirst = !told.has(words);
    told.add(words);
    return isFirst;
  };
}
