import type { PageRequest, ShownRecord } from './log-source.ts';

/**
 * Records of several nodes by their times, in the direction asked for: those of a node that was late are told behind the
 * others'. Within a node the order stays; a record without a time, or out of order, stays behind the one before it.
 */
export function sortRecords(records: readonly ShownRecord[], direction: PageRequest['direction']): ShownRecord[] {
  const sign = direction === 'older' ? -1 : 1;
  const reached = new Map<string, number>();
  const keyed = records.map((record) => {
    const before = reached.get(record.node) ?? -Infinity;
    const key = record.atMs === undefined ? before : Math.max(before, sign * record.atMs);
    reached.set(record.node, key);
    return { record, key };
  });
  return keyed.sort((a, b) => (a.key === b.key ? 0 : a.key - b.key)).map(({ record }) => record);
}
