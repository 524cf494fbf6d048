import { bucketWidth } from '@porthole/logs';
import { canonicalField, fieldValues, recordFields, valueType } from '@porthole/logs/query';
import type { FieldSummary, Fields, FieldsQuery, FieldType, FoundRecord, Top, TopQuery } from '@porthole/logs/types';

/* Counts over the records of a snapshot, as a node counts those of its files. There are few: all are kept. */

/** What a node shows of a value, and of an example. */
const MAX_VALUE_LENGTH = 256;
const MAX_EXAMPLE_LENGTH = 128;

/** Values shown of a field. */
const MAX_EXAMPLES = 5;

/** Buckets if only their width was requested. */
const DEFAULT_BUCKETS = 100;

/** Records by value of a field. */
export function countTop(records: readonly FoundRecord[], query: TopQuery): Omit<Top, 'end'> {
  const wanted = query.values && new Set(query.values);
  const bucketMs = chooseWidth(records, query);
  const byValue = new Map<string, FoundRecord[]>();
  let [others, missing] = [0, 0];
  for (const record of records) {
    const values = new Set(fieldValues(record, query.by).map((value) => shownValue(value, MAX_VALUE_LENGTH)));
    if (values.size === 0) missing++;
    for (const value of values) {
      if (wanted && !wanted.has(value)) others++;
      else {
        const known = byValue.get(value);
        if (known) known.push(record);
        else byValue.set(value, [record]);
      }
    }
  }
  const ranked = [...byValue].sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1));
  for (const [, own] of ranked.slice(query.limit)) others += own.length;
  return {
    by: canonicalField(query.by),
    values: ranked.slice(0, query.limit).map(([value, own]) => ({
      value,
      count: own.length,
      ...(bucketMs !== undefined && { buckets: countBuckets(own, bucketMs) }),
    })),
    others,
    missing,
    distinct: byValue.size,
    isExact: true,
    ...(bucketMs !== undefined && { bucketMs }),
  };
}

/** The fields of the records. */
export function countFields(records: readonly FoundRecord[], { limit }: FieldsQuery): Omit<Fields, 'end'> {
  const fields = new Map<string, { records: number; types: Counts<FieldType>; values: Counts<string> }>();
  for (const record of records) {
    const counted = new Set<string>();
    for (const { name, text } of recordFields(record)) {
      const field = fields.get(name) ?? { records: 0, types: new Map(), values: new Map() };
      fields.set(name, field);
      if (!counted.has(name)) field.records++;
      counted.add(name);
      add(field.types, valueType(text, name));
      add(field.values, shownValue(text, MAX_EXAMPLE_LENGTH));
    }
  }
  const all = [...fields].map(
    ([name, field]): FieldSummary => ({
      name,
      types: mostFrequent(field.types),
      records: field.records,
      distinct: field.values.size,
      isDistinctExact: true,
      examples: mostFrequent(field.values).slice(0, MAX_EXAMPLES),
    }),
  );
  return {
    fields: all.sort((a, b) => b.records - a.records || (a.name < b.name ? -1 : 1)).slice(0, limit),
    totalFields: all.length,
    records: records.length,
    isSample: false,
  };
}

function chooseWidth(records: readonly FoundRecord[], { buckets, bucketMs, fromMs, toMs }: TopQuery) {
  if (buckets === undefined && bucketMs === undefined) return undefined;
  const times = recordTimes(records);
  const first = fromMs ?? times.reduce((a, b) => Math.min(a, b), times[0] ?? 0);
  const last = toMs ?? times.reduce((a, b) => Math.max(a, b), first);
  return bucketMs ?? bucketWidth({ spanMs: Math.max(0, last - first), bucketMs, buckets: buckets ?? DEFAULT_BUCKETS });
}

function countBuckets(records: readonly FoundRecord[], bucketMs: number) {
  const counts: Counts<number> = new Map();
  for (const timeMs of recordTimes(records)) add(counts, Math.floor(timeMs / bucketMs));
  const inOrder = [...counts].sort(([a], [b]) => a - b);
  return inOrder.map(([bucket, count]) => ({ startMs: bucket * bucketMs, count }));
}

function recordTimes(records: readonly FoundRecord[]): number[] {
  return records.flatMap(({ timeMs }) => timeMs ?? []);
}

type Counts<T> = Map<T, number>;

function add<T>(counts: Counts<T>, key: T): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function mostFrequent<T extends string>(counts: Counts<T>): T[] {
  return [...counts].sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1)).map(([key]) => key);
}

/** A long value is cut, as a node shows it. */
function shownValue(value: string, maxLength: number): string {
  return value.length > maxLength ? `${value.slice(0, maxLength - 1)}…` : value;
}
