import type {
  ClusterDigest,
  ClusterFields,
  ClusterFollowItem,
  ClusterHistogram,
  ClusterRecord,
  ClusterTop,
  FieldSummary,
  FileProblem,
  HistogramBucket,
  Level,
  MemberDuplicateFile,
  MemberReport,
  RecordFilter,
  TopValue,
} from '@porthole/client';
import { coverageOf, failures, LEVELS } from '@porthole/contract';
import type { RecordKey } from '../../state/view.ts';

/** A record as it is shown: with its node and, if it has a timestamp, the time by the clock of the queried node. */
export type ShownRecord = ClusterRecord;

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
  | { timeMs: number }
  /** Newer: this record first. Older: those before it. */
  | { at: RecordKey }
  /** Next to this record, without it. */
  | { next: RecordKey }
  /** Where an earlier page in the same direction stopped. */
  | { page: string };

export type Direction = 'older' | 'newer';

export interface PageRequest {
  direction: Direction;
  from: PagePosition;
  limit: number;
  filter: RowFilter;
}

export type FollowFrom = 'end' | { timeMs: number };

export interface FollowRequest {
  from: FollowFrom;
  filter: RowFilter;
}

export interface HistogramRequest {
  filter: RowFilter;
  buckets: number;
  /** Their width, instead of one that gives about that many. */
  bucketMs?: number;
}

export interface FieldsRequest {
  filter: RowFilter;
  limit: number;
}

export type DigestRequest = FieldsRequest;

export interface TopRequest extends FieldsRequest {
  by: string;
  /** Also counts over time, in buckets of this width. */
  bucketMs?: number;
}

export interface PageOptions {
  signal?: AbortSignal;
  /** Time budget; the page has what was found by then, and `next` continues. */
  budgetMs?: number;
}

/** A file that was not, or only partly, read, and its node. */
export interface ShownProblem extends FileProblem {
  node: string;
}

export interface Page {
  /** Oldest first, in both directions. */
  records: ShownRecord[];
  /** Continues in the same direction; `null` if nothing is left. */
  next: string | null;
  scannedBytes: number;
  /** Up to where the page has every matching record, in the requested direction; `null` if unknown. */
  reachedMs: number | null;
  problems: ShownProblem[];
  /** Files left out because another one contains all of their text: nothing is missing. */
  duplicates: MemberDuplicateFile[];
  /** One report per queried member. */
  members: MemberReport[];
}

export interface HistogramResult extends Pick<ClusterHistogram, 'bucketMs' | 'counted' | 'members'> {
  buckets: (HistogramBucket & { nodes?: Record<string, number> })[];
}

/** The fields of the matching records, those of the most records first. */
export interface FieldsResult extends Omit<ClusterFields, 'fields'> {
  fields: FieldSummary[];
}

/** Counts by value of a field, the most frequent first. */
export interface TopResult extends Omit<ClusterTop, 'values'> {
  values: TopValue[];
}

/** The times of the first and the last record, as far as known. */
export interface Extent {
  firstMs: number;
  lastMs: number;
}

/** The logs of a workspace, merged by time. Holds nothing open between requests. */
export interface LogSource {
  /** Nodes that are named; empty if all are meant, or patterns. */
  readonly nodes: readonly string[];
  page(request: PageRequest, options?: PageOptions): Promise<Page>;
  /** New records, after an empty batch; runs until the signal fires, also when the connection is lost. */
  follow(request: FollowRequest, options: { signal: AbortSignal }): AsyncIterable<ClusterFollowItem[]>;
  histogram(request: HistogramRequest, options?: PageOptions): Promise<HistogramResult>;
  fields(request: FieldsRequest, options?: PageOptions): Promise<FieldsResult>;
  top(request: TopRequest, options?: PageOptions): Promise<TopResult>;
  digest(request: DigestRequest, options?: PageOptions): Promise<ClusterDigest>;
  /** `null` if no record has a timestamp. */
  extent(options?: { signal?: AbortSignal }): Promise<Extent | null>;
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

/** Whether more than the key of the record is known. */
export function isShown(key: RecordKey): key is ShownRecord {
  return 'type' in key && key.type === 'record';
}

/** Where a record is on the scroll bar of the whole log, 0 to 1; `undefined` if unknown. */
export function fractionAt({ atMs }: ShownRecord, { firstMs, lastMs }: Extent): number | undefined {
  if (atMs === undefined || lastMs <= firstMs) return undefined;
  return Math.min(1, Math.max(0, (atMs - firstMs) / (lastMs - firstMs)));
}

/** The position at a fraction of the scroll bar. */
export function positionAt(fraction: number, extent: Extent | null): PagePosition {
  if (fraction >= 1) return 'end';
  if (fraction <= 0 || extent === null) return 'start';
  return { timeMs: Math.round(extent.firstMs + fraction * (extent.lastMs - extent.firstMs)) };
}

/** Whether there may be more records than counted: the scan stopped early, or a node did not respond. */
export function isPartialCount({ counted, members }: Pick<HistogramResult, 'counted' | 'members'>): boolean {
  return counted !== null || isPart({ members });
}

/** Whether something that was requested could not be read. */
export function isPart(response: { members: readonly MemberReport[]; problems?: readonly ShownProblem[] }): boolean {
  return failures(coverageOf(response)).length > 0;
}

export function isAtLeast(level: Level | undefined, least: Level): boolean {
  return level !== undefined && LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

export function levelSums(buckets: HistogramResult['buckets']): Partial<Record<Level | 'NONE', number>> {
  const sums: Partial<Record<Level | 'NONE', number>> = {};
  for (const { counts } of buckets)
    for (const level of Object.keys(counts) as (Level | 'NONE')[])
      sums[level] = (sums[level] ?? 0) + (counts[level] ?? 0);
  return sums;
}

/** How many of the counted records a minimum level hides, including those without a level. */
export function hiddenBelow({ buckets }: Pick<HistogramResult, 'buckets'>, minLevel: Level | null): number {
  if (minLevel === null) return 0;
  const sums = levelSums(buckets);
  const hidden = [...LEVELS.slice(0, LEVELS.indexOf(minLevel)), 'NONE' as const];
  return hidden.reduce((sum, level) => sum + (sums[level] ?? 0), 0);
}
