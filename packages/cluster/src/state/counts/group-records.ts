import { mergeShapes, messageShape } from '@porthole/logs';
import type { Digest, DigestGroup, DigestQuery, FoundRecord } from '@porthole/logs/types';

/** Groups records by level and source location, largest first, like a node does with its files. */
export function groupRecords(
  records: readonly FoundRecord[],
  { newSinceMs = Infinity, onlyNew = false, limit }: DigestQuery,
): Pick<Digest, 'groups' | 'totalGroups'> {
  const groups = new Map<string, DigestGroup>();
  const shapes = records.map(({ source, message }) => (source === undefined ? messageShape(message) : null));
  const merged = mergeShapes(shapes.flatMap((shape) => shape ?? []));
  for (const [index, record] of records.entries()) {
    const { level = null, source = null } = record;
    const own = shapes[index] ?? null;
    const shape = own === null ? null : (merged.get(own) ?? own);
    const key = JSON.stringify([level, source, shape]);
    const known = groups.get(key);
    groups.set(
      key,
      known ? addRecord(known, record) : addRecord({ ...EMPTY, level, source, shape, sample: record }, record),
    );
  }
  const all = [...groups.values()]
    .map((group) => ({ ...group, isNew: (group.firstMs ?? Number.NaN) >= newSinceMs }))
    .filter(({ isNew }) => !onlyNew || isNew)
    .sort((a, b) => b.count - a.count);
  return { groups: all.slice(0, limit), totalGroups: all.length };
}

const EMPTY = { count: 0, firstMs: null, lastMs: null, isNew: false };

function addRecord(group: DigestGroup, record: FoundRecord): DigestGroup {
  const { timeMs = null } = record;
  const { firstMs, lastMs } = group;
  const isNewest = timeMs !== null && (lastMs === null || timeMs > lastMs);
  return {
    ...group,
    count: group.count + 1,
    firstMs: timeMs !== null && (firstMs === null || timeMs < firstMs) ? timeMs : firstMs,
    lastMs: isNewest ? timeMs : lastMs,
    sample: isNewest ? record : group.sample,
  };
}
