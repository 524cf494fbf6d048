import type {
  ClusterFields,
  ClusterFollowItem,
  ClusterRecord,
  ClusterTop,
  FieldSummary,
  HistogramBucket,
  MemberDuplicateFile,
  MemberReport,
  RecordFilter,
  TopValue,
} from '@porthole/client';
import type { ShownProblem } from '../model/reports.ts';

/** A record as it is shown: with its node and, if it has a timestamp, the time by the clock of the queried node. */
export type ShownRecord = ClusterRecord;

/** Identifies a record, also after rotation. A whole `ShownRecord` is one, too, and saves a source the lookup. */
export interface RecordKey {
  node: string;
  cursor: string;
}

export interface RowFilter
  extends Pick<
    RecordFilter,
    'fromMs' | 'toMs' | 'minLevel' | 'terms' | 'excluded' | 'caseSensitive' | 'regex' | 'source' | 'component'
  > {
  /** As written. */
  query?: string;
}

/** Where a page of records begins, in the requested direction. */
export type PagePosition =
  /** Before the first record, or after the last one. */
  | 'start'
  | 'end'
  /** Fraction of the whole log, as on the scroll bar: 0 is the start, 1 the end. */
  | { fraction: number }
  | { timeMs: number }
  /** Newer: this record first. Older: those before it. */
  | { at: RecordKey }
  /** Next to this record, without it. */
  | { next: RecordKey }
  /** Where an earlier page in the same direction stopped. */
  | { page: string };

export interface PageRequest {
  direction: 'older' | 'newer';
  from: PagePosition;
  limit: number;
  filter: RowFilter;
}

export type FollowFrom =
  | 'end'
  /** Right after this record. Records before `sinceMs` may be skipped, however late they were written. */
  | { next: RecordKey; sinceMs?: number }
  | { timeMs: number };

export interface PageOptions {
  signal?: AbortSignal;
  /** Time budget; the page has what was found by then, and `next` continues. */
  budgetMs?: number;
}

export interface Page {
  /** Oldest first, in both directions. */
  records: ShownRecord[];
  /** Continues in the same direction; `null` if nothing is left. */
  next: string | null;
  /** `true` if the page ended because of its time budget. */
  isOutOfTime: boolean;
  scannedBytes: number;
  /** Up to where the page has every matching record, in the requested direction; `null` if unknown. */
  reachedMs: number | null;
  problems: ShownProblem[];
  /** Files left out because another one contains all of their text: nothing is missing. */
  duplicates: MemberDuplicateFile[];
  /** One report per queried member. */
  members: MemberReport[];
}

export interface HistogramResult {
  bucketMs: number;
  buckets: HistogramBucket[];
  /** The range that was counted; nothing is known outside of it. `null`: all. */
  counted: { fromMs: number; toMs: number } | null;
  members: MemberReport[];
}

/** The fields of the matching records, those of the most records first. */
export interface FieldsResult extends Omit<ClusterFields, 'fields'> {
  fields: FieldSummary[];
}

/** Counts by value of a field, the most frequent first. */
export interface TopResult extends Omit<ClusterTop, 'values'> {
  values: TopValue[];
}

/** The range of the scroll bar. */
export type Extent =
  | { kind: 'bytes'; totalBytes: number; firstMs: number | null; lastMs: number | null }
  | { kind: 'time'; firstMs: number; lastMs: number };

/** The logs of a workspace: one log of one node, or several merged by time. Holds nothing open between requests. */
export interface LogSource {
  /** Nodes whose records come from here, as far as known before the first request. */
  readonly nodes: readonly string[];
  page(request: PageRequest, options?: PageOptions): Promise<Page>;
  /**
   * New records, after an empty batch; runs until the signal fires. With several logs merged by time, some records
   * before `next` are repeated: callers recognise them by their keys.
   */
  follow(
    request: { from: FollowFrom; filter: RowFilter },
    options: { signal: AbortSignal },
  ): AsyncIterable<ClusterFollowItem[]>;
  histogram(request: { filter: RowFilter; buckets: number }, options?: PageOptions): Promise<HistogramResult>;
  fields(request: { filter: RowFilter; limit: number }, options?: PageOptions): Promise<FieldsResult>;
  top(request: { filter: RowFilter; by: string; limit: number }, options?: PageOptions): Promise<TopResult>;
  extent(options?: { signal?: AbortSignal }): Promise<Extent>;
  /** Where a record is in the extent, 0 to 1; `undefined` if unknown. */
  fractionAt(record: ShownRecord, extent: Extent): number | undefined;
}

/** A cursor: length and hash of the start of the file; offset, check and checked bytes; file name; what was delivered. */
const CURSOR = /^[0-9a-f]{16}\.[0-9a-z]+\.([0-9a-z]+\.[0-9a-z]+\.[0-9a-z]+)\.([\w-]+)(?:\.[\w.-]+)?$/;

/**
 * One key per record, however its cursor is written: cursors change while the file is shorter than 1 KiB and with the
 * file name. The first letters of the name survive rotation and distinguish the logs of a node.
 */
export function recordKey({ node, cursor }: RecordKey): string {
  const [, position, name] = CURSOR.exec(cursor) ?? [];
  if (position === undefined || name === undefined) return `${node} ${cursor}`;
  return `${node} ${position} ${firstLetters(name)}`;
}

function firstLetters(name: string): string {
  try {
    const text = atob(name.replaceAll('-', '+').replaceAll('_', '/'));
    return /^[A-Za-z]*/.exec(text)?.[0] ?? '';
  } catch (error) {
    if (error instanceof DOMException) return ''; // not base64: the offset alone has to do
    throw error;
  }
}

/* The extent of a time-based scroll bar. */

/** Covers these times; without any it is empty. */
export function timeExtent(times: readonly (number | null)[]): Extent {
  const known = times.filter((timeMs) => timeMs !== null);
  if (known.length === 0) return { kind: 'time', firstMs: 0, lastMs: 0 };
  return { kind: 'time', firstMs: Math.min(...known), lastMs: Math.max(...known) };
}

export function timeOfFraction(fraction: number, { firstMs, lastMs }: Extent): number {
  const [first, last] = [firstMs ?? 0, lastMs ?? 0];
  return Math.round(first + fraction * (last - first));
}

export function fractionOfTime({ atMs }: ShownRecord, { firstMs, lastMs }: Extent): number | undefined {
  if (atMs === undefined || firstMs === null || lastMs === null || lastMs <= firstMs) return undefined;
  return Math.min(1, Math.max(0, (atMs - firstMs) / (lastMs - firstMs)));
}
