import { mergeFields, mergeTop } from '@porthole/contract';
import type { FieldsResult, HistogramResult, TopResult } from './log-source.ts';

/* Counts by field of several logs, none of which is part of another, as one. */

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

/** Counts by value, added up. */
export function mergeTops(tops: readonly TopResult[], limit: number): Omit<TopResult, 'members'> {
  return {
    by: tops[0]?.by ?? '',
    ...mergeTop(
      tops.map((top, index) => ({ id: String(index), top })),
      { limit, areGiven: false },
    ),
    counted: sharedRange(tops.map((top) => top.counted)),
  };
}

/** The fields of all, those of the most records first. */
export function mergeFieldLists(lists: readonly FieldsResult[], limit: number): Omit<FieldsResult, 'members'> {
  return {
    ...mergeFields(
      lists.map((fields, index) => ({ id: String(index), fields })),
      { limit },
    ),
    counted: sharedRange(lists.map(({ counted }) => counted)),
  };
}
