/* The reference results of histograms and digests. */
import { LEVELS_BY_RANK } from '../parse/level.ts';
import { messageShape } from '../query/message-shape.ts';
import { mergeShapes } from '../shapes/merge-shapes.ts';
import type { DigestGroup, HistogramBucket, RecordFilter } from '../types.ts';
import { type ComparableRecord, matches, type SlowRecord, toComparable } from './slow-logs.ts';

export function slowHistogram(
  records: readonly SlowRecord[],
  filter: RecordFilter,
  bucketMs: number,
): { buckets: HistogramBucket[]; untimed: number } {
  const buckets = new Map<number, HistogramBucket['counts']>();
  let untimed = 0;
  for (const record of records.filter((candidate) => matches(candidate, filter))) {
    if (Number.isNaN(record.timeMs)) {
      untimed++;
      continue;
    }
    const startMs = Math.floor(record.timeMs / bucketMs) * bucketMs;
    const counts = buckets.get(startMs) ?? {};
    const level = LEVELS_BY_RANK[record.rank] ?? 'NONE';
    counts[level] = (counts[level] ?? 0) + 1;
    buckets.set(startMs, counts);
  }
  const sorted = [...buckets].sort(([a], [b]) => a - b);
  return { buckets: sorted.map(([startMs, counts]) => ({ startMs, counts })), untimed };
}

export type SlowGroup = Omit<DigestGroup, 'sample'> & { sample: ComparableRecord };

/** All groups, in no particular order. Those are new that have no record before `newSinceMs`, in the range or not. */
export function slowDigest(records: readonly SlowRecord[], filter: RecordFilter, newSinceMs = Infinity): SlowGroup[] {
  const groups = new Map<string, SlowRecord[]>();
  const { fromMs: _fromMs, toMs: _toMs, ...timeless } = filter;
  const matching = records.filter((candidate) => matches(candidate, filter));
  const older = records.filter((candidate) => candidate.timeMs < newSinceMs && matches(candidate, timeless));
  const shapeOf = ({ whole: { source, message } }: SlowRecord) => (source === undefined ? messageShape(message) : null);
  const isOfPast = ({ timeMs }: SlowRecord) => timeMs < (filter.fromMs ?? -Infinity);
  const shown = newSinceMs < (filter.toMs ?? Infinity) ? [...matching, ...older.filter(isOfPast)] : matching;
  const merged = mergeShapes(shown.flatMap((record) => shapeOf(record) ?? []));
  const keyOf = (record: SlowRecord) => {
    const shape = shapeOf(record);
    const mergedShape = shape === null ? null : (merged.get(shape) ?? shape);
    return JSON.stringify([record.rank, record.whole.source ?? null, mergedShape]);
  };
  const old = new Set(older.map(keyOf));
  for (const record of matching) groups.set(keyOf(record), [...(groups.get(keyOf(record)) ?? []), record]);
  return [...groups].map(([key, members]) => {
    const [rank, source, shape] = JSON.parse(key) as [number, string | null, string | null];
    const times = members.map(({ timeMs }) => timeMs).filter((timeMs) => !Number.isNaN(timeMs));
    const firstMs = times.length > 0 ? Math.min(...times) : null;
    const lastMs = times.length > 0 ? Math.max(...times) : null;
    const sample = members.findLast(({ timeMs }) => lastMs === null || timeMs === lastMs) as SlowRecord;
    const level = LEVELS_BY_RANK[rank] ?? null;
    const isNew = firstMs !== null && firstMs >= newSinceMs && !old.has(key);
    // Of records without a time nobody knows.
    const isUnknown = firstMs === null && newSinceMs < Infinity && !old.has(key);
    const known = { level, source, shape, count: members.length, firstMs, lastMs, sample: toComparable(sample) };
    return { ...known, isNew, ...(isUnknown && { isNewUnknown: true as const }) };
  });
}
