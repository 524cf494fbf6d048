import {
  type ClusterFields,
  type ClusterHistogram,
  type ClusterTop,
  compareValues,
  mergeFields,
  mergeTop,
} from '@porthole/contract';

/* Counts of members and of the archive, of which no record is in both, added up. */

type Parts<T> = readonly T[];
type Merged<T> = Omit<T, 'members' | 'archive'>;
type Bucket = ClusterHistogram['buckets'][number];
type Nodes = Record<string, number>;

export function mergeHistograms(parts: Parts<ClusterHistogram>): Merged<ClusterHistogram> {
  const bucketMs = parts.reduce((widest, part) => Math.max(widest, part.bucketMs), 1);
  const merged = new Map<number, Bucket>();
  for (const { buckets, bucketMs: width } of parts)
    for (const { startMs, counts, nodes } of buckets) {
      const index = Math.floor((startMs + width / 2) / bucketMs);
      const known = merged.get(index);
      const added = { startMs: index * bucketMs, counts: add(known?.counts, counts), nodes: add(known?.nodes, nodes) };
      merged.set(index, added);
    }
  return {
    bucketMs,
    buckets: [...merged.values()].sort((a, b) => a.startMs - b.startMs),
    untimed: parts.reduce((sum, { untimed }) => sum + untimed, 0),
    counted: mergeCounted(parts),
  };
}

export function mergeAllFields(parts: Parts<ClusterFields>, { limit }: { limit: number }): Merged<ClusterFields> {
  const sources = parts.map((fields, index) => ({ id: String(index), fields }));
  const merged = mergeFields(sources, { limit });
  const nodes = nodesByName(parts.flatMap(({ fields }) => fields.map((field) => ({ ...field, key: field.name }))));
  const fields = merged.fields.map((field) => ({ ...field, nodes: nodes.get(field.name) ?? {} }));
  return { ...merged, fields, counted: mergeCounted(parts) };
}

export function mergeTops(
  parts: Parts<ClusterTop>,
  { limit, areGiven }: { limit: number; areGiven: boolean },
): Merged<ClusterTop> {
  const merged = mergeTop(
    parts.map((top, index) => ({ id: String(index), top })),
    { limit, areGiven },
  );
  const nodes = nodesByName(parts.flatMap(({ values }) => values.map((value) => ({ ...value, key: value.value }))));
  const bucketMs = parts.reduce((widest, part) => Math.max(widest, part.bucketMs ?? 0), 0);
  const values = merged.values.map((value) => ({
    ...value,
    ...(bucketMs > 0 && { buckets: mergeValueBuckets(parts, value.value, bucketMs) }),
    nodes: nodes.get(value.value) ?? {},
  }));
  return {
    by: parts[0]?.by ?? '',
    ...merged,
    values: values.sort(compareValues),
    ...(bucketMs > 0 && { bucketMs }),
    counted: mergeCounted(parts),
  };
}

function mergeValueBuckets(parts: Parts<ClusterTop>, wanted: string, bucketMs: number) {
  const merged = new Map<number, number>();
  for (const { values, bucketMs: width = bucketMs } of parts)
    for (const { startMs, count } of values.find(({ value }) => value === wanted)?.buckets ?? []) {
      const index = Math.floor((startMs + width / 2) / bucketMs);
      merged.set(index, (merged.get(index) ?? 0) + count);
    }
  return [...merged].sort(([a], [b]) => a - b).map(([index, count]) => ({ startMs: index * bucketMs, count }));
}

function nodesByName(parts: readonly { key: string; nodes: Nodes }[]): Map<string, Nodes> {
  const byName = new Map<string, Nodes>();
  for (const { key, nodes } of parts) byName.set(key, add(byName.get(key), nodes));
  return byName;
}

/** The range that all parts have counted. */
function mergeCounted(parts: Parts<Pick<ClusterHistogram, 'counted'>>): ClusterHistogram['counted'] {
  const ranges = parts.flatMap(({ counted }) => counted ?? []);
  if (ranges.length === 0) return null;
  const fromMs = Math.max(...ranges.map((range) => range.fromMs));
  return { fromMs, toMs: Math.max(fromMs, Math.min(...ranges.map((range) => range.toMs))) };
}

function add<K extends string>(
  known: Partial<Record<K, number>> | undefined,
  more: Partial<Record<K, number>>,
): Record<K, number> {
  const sums = new Map<string, number>(Object.entries<number | undefined>(known ?? {}).map(([key, n = 0]) => [key, n]));
  for (const [key, count = 0] of Object.entries<number | undefined>(more)) sums.set(key, (sums.get(key) ?? 0) + count);
  return Object.fromEntries(sums) as Record<K, number>;
}
