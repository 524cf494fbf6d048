import type { LogSelection, RecordFilter, SearchEnd } from '../types.ts';

/** What values of a field look like. */
export type FieldType = 'text' | 'number' | 'duration' | 'size' | 'boolean' | 'level';

export interface FieldsQuery extends LogSelection, RecordFilter {
  /** Maximum number of fields returned, those of the most records first. */
  limit: number;
}

export interface FieldSummary {
  /** As queries name it. */
  name: string;
  /** Most frequent first; those of less than 5 % of its values are left out. */
  types: FieldType[];
  /** Examined records that have the field. */
  records: number;
  /** Number of different values. */
  distinct: number;
  /** Whether `distinct` is exact for the examined records; otherwise estimated, within a few percent. */
  isDistinctExact: boolean;
  /** Some of its values, the most frequent ones first. */
  examples: string[];
}

/** The fields of matching records. */
export interface Fields {
  fields: FieldSummary[];
  /** Number of fields, including those not returned. */
  totalFields: number;
  /** Matching records that were examined. */
  records: number;
  /** Whether only a part of the range was examined because it is large: evenly chosen blocks. */
  isSample: boolean;
  end: Omit<SearchEnd, 'type' | 'cursor'>;
}

export interface TopQuery extends LogSelection, RecordFilter {
  /** The field. */
  by: string;
  /** Maximum number of values returned, the most frequent ones first. */
  limit: number;
  /** Count only these values; the others together. One that was cut counts all values that are shown like it. */
  values?: readonly string[];
  /** Also count over time: desired number of buckets, or their width. */
  buckets?: number;
  bucketMs?: number;
}

export interface TopValue {
  value: string;
  /** Matching records that have it; a lower bound if `error` is present. */
  count: number;
  /** Absent: exact. The number of records is at most `count + error`. */
  error?: number;
  /** Counts over time, exact, in ascending order; only if requested. */
  buckets?: { startMs: number; count: number }[];
}

/** Counts by value of a field. A record with several values counts once for each. */
export interface Top {
  by: string;
  /** Ordered by count, equal counts by value. */
  values: TopValue[];
  /** Counts of all values that are not in the list, together. */
  others: number;
  /** Matching records without the field. */
  missing: number;
  /** Number of different values; estimated unless `isExact`. */
  distinct: number;
  /** Whether counts, order and `distinct` are exact for the covered range. */
  isExact: boolean;
  /** Width of the buckets, if requested. */
  bucketMs?: number;
  end: Omit<SearchEnd, 'type' | 'cursor'>;
}
