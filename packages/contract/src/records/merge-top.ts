import type { Top, TopValue } from '@porthole/logs/types';

/** The counts of one log or member. */
export interface TopSource {
  /** Names it in `nodes` of the merged values. */
  id: string;
  top: Pick<Top, 'values' | 'others' | 'missing' | 'distinct' | 'isExact'>;
}

interface MergeTopOptions {
  limit: number;
  /** Whether only given values were counted: one that a source does not list does not occur there. */
  areGiven: boolean;
}

export interface MergedValue extends TopValue {
  /** Counts of each source that has the value, by its id. */
  nodes: Record<string, number>;
}

type MergedTop = Omit<TopSource['top'], 'values'> & { values: MergedValue[] };

/** A value while it is merged. */
interface Merging {
  count: number;
  error: number;
  nodes: Map<string, number>;
}

/**
 * Adds up the counts of several logs or members, none of which is part of another. One that lists all of its values is
 * exact. A value that is missing in the list of another one may occur there as often as the last one listed: that is
 * added to its `error`.
 */
export function mergeTop(tops: readonly TopSource[], { limit, areGiven }: MergeTopOptions): MergedTop {
  const merged = new Map<string, Merging>();
  for (const { id, top } of tops) for (const value of top.values) addValue(merged, id, value);
  for (const { id, top } of tops) {
    const mostUnlisted = areGiven ? 0 : boundUnlisted(top);
    if (mostUnlisted === 0) continue;
    for (const value of merged.values()) if (!value.nodes.has(id)) value.error += mostUnlisted;
  }
  const ranked = [...merged]
    .map(([value, { count, error, nodes }]): MergedValue => {
      return { value, count, ...(error > 0 && { error }), nodes: Object.fromEntries(nodes) };
    })
    .sort(compareValues);
  const values = ranked.slice(0, limit);
  const counted = sum(tops, ({ top }) => sum(top.values, ({ count }) => count) + top.others);
  return {
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

/** How many records may have a value that the source does not list. */
function boundUnlisted({ values, others }: TopSource['top']): number {
  const last = values.at(-1);
  if (last === undefined) return others;
  const mostError = values.reduce((most, { error = 0 }) => Math.max(most, error), 0);
  return Math.min(others, last.count + mostError);
}

/** If only one source has values at all, its list is the result, however long it is. */
function isMergeExact(tops: readonly TopSource[], areGiven: boolean): boolean {
  if (!tops.every(({ top }) => top.isExact)) return false;
  const withValues = tops.filter(({ top }) => top.values.length > 0 || top.others > 0);
  return areGiven || withValues.length <= 1 || withValues.every(({ top }) => top.others === 0);
}

function sum<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0);
}
