import { type BucketSource, type ClusterTop, mergeBuckets } from '@porthole/contract';
import type { Top, TopValue } from '@porthole/logs/types';

/** The counts of a member, by its own clock. */
export interface MemberTop {
  id: string;
  /** To take off its times. */
  offsetMs: number;
  top: Omit<Top, 'end'>;
}

export interface MergeTopOptions {
  by: string;
  limit: number;
  /** Whether only given values were counted: one that a member does not list does not occur there. */
  areGiven: boolean;
}

type MergedTop = Omit<ClusterTop, 'members' | 'counted'>;
type ClusterValue = ClusterTop['values'][number];

/** A value while it is merged. */
interface Merging {
  count: number;
  error: number;
  nodes: Map<string, number>;
}

/**
 * Adds up the counts of all members. A member that lists all of its values is exact. In the list of another one, a value
 * that is missing may occur as often as the last one listed: that is added to its `error`.
 */
export function mergeTop(tops: readonly MemberTop[], { by, limit, areGiven }: MergeTopOptions): MergedTop {
  const merged = new Map<string, Merging>();
  for (const { id, top } of tops) for (const value of top.values) addValue(merged, id, value);
  for (const { id, top } of tops) {
    const mostUnlisted = areGiven ? 0 : boundUnlisted(top);
    if (mostUnlisted === 0) continue;
    for (const value of merged.values()) if (!value.nodes.has(id)) value.error += mostUnlisted;
  }
  const ranked = [...merged]
    .map(([value, { count, error, nodes }]): ClusterValue => {
      return { value, count, ...(error > 0 && { error }), nodes: Object.fromEntries(nodes) };
    })
    .sort(compareValues);
  const values = ranked.slice(0, limit);
  const counted = sum(tops, ({ top }) => sum(top.values, ({ count }) => count) + top.others);
  return {
    by,
    values,
    others: counted - sum(values, ({ count }) => count),
    missing: sum(tops, ({ top }) => top.missing),
    distinct: Math.max(merged.size, ...tops.map(({ top }) => top.distinct)),
    isExact: isMergeExact(tops, areGiven),
  };
}

/** Ordered by count, equal counts by value, as a node orders them. */
export function compareValues(a: TopValue, b: TopValue): number {
  return b.count - a.count || (a.value < b.value ? -1 : 1);
}

function addValue(merged: Map<string, Merging>, id: string, { value, count, error = 0 }: TopValue): void {
  const known = merged.get(value) ?? { count: 0, error: 0, nodes: new Map<string, number>() };
  merged.set(value, known);
  known.count += count;
  known.error += error;
  known.nodes.set(id, (known.nodes.get(id) ?? 0) + count);
}

/** How many records may have a value that the member does not list. */
function boundUnlisted({ values, others }: MemberTop['top']): number {
  const last = values.at(-1);
  if (last === undefined) return others;
  const mostError = values.reduce((most, { error = 0 }) => Math.max(most, error), 0);
  return Math.min(others, last.count + mostError);
}

/** If only one member has values at all, its list is the result, however long it is. */
function isMergeExact(tops: readonly MemberTop[], areGiven: boolean): boolean {
  if (!tops.every(({ top }) => top.isExact)) return false;
  const withValues = tops.filter(({ top }) => top.values.length > 0 || top.others > 0);
  return areGiven || withValues.length <= 1 || withValues.every(({ top }) => top.others === 0);
}

export interface BucketGrid {
  bucketMs: number;
  fromMs?: number | undefined;
  toMs?: number | undefined;
}

/** The values with their counts over time, for which members are asked in a second request. */
export function addBuckets(
  values: readonly ClusterValue[],
  tops: readonly MemberTop[],
  grid: BucketGrid,
): ClusterValue[] {
  const byValue = new Map(values.map(({ value }) => [value, [] as BucketSource[]]));
  for (const { id, offsetMs, top } of tops) {
    const { bucketMs = grid.bucketMs } = top;
    for (const { value, buckets = [] } of top.values) {
      // Values have no levels.
      const counts = buckets.map(({ startMs, count }) => ({ startMs, counts: { NONE: count } }));
      byValue.get(value)?.push({ id, offsetMs, histogram: { bucketMs, buckets: counts } });
    }
  }
  return values.map((value) => {
    const sources = byValue.get(value.value) ?? [];
    if (sources.length === 0) return value;
    const merged = mergeBuckets(sources, grid);
    return { ...value, buckets: merged.map(({ startMs, counts }) => ({ startMs, count: counts.NONE ?? 0 })) };
  });
}

/** The values with the counts of a second request about them only, which are exact. */
export function withExactCounts(values: readonly ClusterValue[], tops: readonly MemberTop[]): ClusterValue[] {
  const counted = new Map<string, Merging>();
  for (const { id, top } of tops) for (const value of top.values) addValue(counted, id, value);
  return values
    .map((value): ClusterValue => {
      const exact = counted.get(value.value);
      return exact ? { value: value.value, count: exact.count, nodes: Object.fromEntries(exact.nodes) } : value;
    })
    .sort(compareValues);
}

function sum<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0);
}
