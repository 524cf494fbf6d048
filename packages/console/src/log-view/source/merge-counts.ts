import type { FieldSummary, FieldType, TopValue } from '@porthole/client';
import type { FieldsResult, HistogramResult, TopResult } from './log-source.ts';

/* Counts by field of several logs, none of which is part of another, as one. */

/** Values shown of a field; as many as a node shows. */
const MAX_EXAMPLES = 10;

type Counted = HistogramResult['counted'];

/** Where several have counted only a part, the part that all of them have. */
export function sharedRange(ranges: readonly Counted[]): Counted {
  const partial = ranges.filter((range) => range !== null);
  if (partial.length === 0) return null;
  return {
    fromMs: Math.max(...partial.map(({ fromMs }) => fromMs)),
    toMs: Math.min(...partial.map(({ toMs }) => toMs)),
  };
}

/**
 * Adds up the counts. A value that is missing in the list of a log may occur there as often as the last one listed: that
 * is added to its `error`.
 */
export function mergeTops(tops: readonly TopResult[], limit: number): Omit<TopResult, 'members'> {
  const merged = new Map<string, { count: number; error: number; tops: Set<TopResult> }>();
  for (const top of tops)
    for (const { value, count, error = 0 } of top.values) {
      const known = merged.get(value) ?? { count: 0, error: 0, tops: new Set() };
      known.tops.add(top);
      merged.set(value, { ...known, count: known.count + count, error: known.error + error });
    }
  for (const top of tops) {
    const mostUnlisted = boundUnlisted(top);
    for (const value of merged.values()) if (!value.tops.has(top)) value.error += mostUnlisted;
  }
  const all = [...merged].map(([value, { count, error }]): TopValue => ({ value, count, ...(error > 0 && { error }) }));
  const values = all.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)).slice(0, limit);
  const counted = sum(tops, (top) => sum(top.values, ({ count }) => count) + top.others);
  const withValues = tops.filter((top) => top.values.length > 0);
  return {
    by: tops[0]?.by ?? '',
    values,
    others: counted - sum(values, ({ count }) => count),
    missing: sum(tops, ({ missing }) => missing),
    distinct: Math.max(merged.size, ...tops.map(({ distinct }) => distinct)),
    isExact:
      tops.every(({ isExact }) => isExact) &&
      (withValues.length <= 1 || withValues.every(({ others }) => others === 0)),
    counted: sharedRange(tops.map((top) => top.counted)),
  };
}

/** How many records may have a value that is not listed. */
function boundUnlisted({ values, others }: TopResult): number {
  const last = values.at(-1);
  if (last === undefined) return others;
  const mostError = values.reduce((most, { error = 0 }) => Math.max(most, error), 0);
  return Math.min(others, last.count + mostError);
}

/** The fields of all, those of the most records first. */
export function mergeFieldLists(lists: readonly FieldsResult[], limit: number): Omit<FieldsResult, 'members'> {
  const merged = new Map<string, FieldSummary[]>();
  for (const { fields } of lists)
    for (const field of fields) merged.set(field.name, [...(merged.get(field.name) ?? []), field]);
  const all = [...merged].map(([name, parts]) => mergeField(name, parts));
  all.sort((a, b) => b.records - a.records || (a.name < b.name ? -1 : 1));
  return {
    fields: all.slice(0, limit),
    totalFields: Math.max(all.length, ...lists.map(({ totalFields }) => totalFields)),
    records: sum(lists, ({ records }) => records),
    isSample: lists.some(({ isSample }) => isSample),
    counted: sharedRange(lists.map(({ counted }) => counted)),
  };
}

function mergeField(name: string, parts: readonly FieldSummary[]): FieldSummary {
  return {
    name,
    types: mergeTypes(parts),
    records: sum(parts, ({ records }) => records),
    // They may have the same values or others: at least as many as the one with the most.
    distinct: Math.max(...parts.map(({ distinct }) => distinct)),
    isDistinctExact: parts.length === 1 && parts.every(({ isDistinctExact }) => isDistinctExact),
    examples: [...new Set(parts.flatMap(({ examples }) => examples))].slice(0, MAX_EXAMPLES),
  };
}

/** Those that are first in the most records first. */
function mergeTypes(parts: readonly FieldSummary[]): FieldType[] {
  const weights = new Map<FieldType, number>();
  for (const { types, records } of parts)
    for (const [rank, type] of types.entries()) weights.set(type, (weights.get(type) ?? 0) + records / (rank + 1));
  return [...weights].sort(([, a], [, b]) => b - a).map(([type]) => type);
}

function sum<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0);
}
