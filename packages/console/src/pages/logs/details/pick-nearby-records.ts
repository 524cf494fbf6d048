import type { ClusterItem, ClusterRecord } from '@porthole/client';
import { levelTone, recordTime } from '../../../log-view/rows/record-text.ts';

/** So many lines say what others did; the rest is one step away. */
const MAX_RECORDS = 8;

const RANKS = { error: 0, warning: 1, plain: 2, quiet: 3 } as const;

/** What others said at the moment of a record: the worst first chosen, then the nearest; in the order of time. */
export function pickNearbyRecords(items: readonly ClusterItem[], record: ClusterRecord): ClusterRecord[] {
  const atMs = recordTime(record) ?? 0;
  const distance = (other: ClusterRecord) => Math.abs((recordTime(other) ?? 0) - atMs);
  return items
    .filter((item) => item.type === 'record')
    .filter(({ node }) => node !== record.node)
    .toSorted((a, b) => RANKS[levelTone(a.level)] - RANKS[levelTone(b.level)] || distance(a) - distance(b))
    .filter(isNew())
    .slice(0, MAX_RECORDS)
    .toSorted((a, b) => (recordTime(a) ?? 0) - (recordTime(b) ?? 0));
}

/** The same words of the same node once: the first, which is the nearest. */
function isNew(): (record: ClusterRecord) => boolean {
  const seen = new Set<string>();
  return ({ node, source, message }) => {
    const recordId = JSON.stringify([node, source, message]);
    const isFirst = !seen.has(recordId);
    seen.add(recordId);
    return isFirst;
  };
}
