import type {
  ClusterFollowItem,
  ClusterRecord,
  HistogramBucket,
  MemberDuplicateFile,
  MemberReport,
  RecordFilter,
} from '@porthole/client';
import type { ShownProblem } from '../model/file-problems.ts';

/** A record as it is shown: always with who said it and, where it has a time, when by the clock of the node asked. */
export type ShownRecord = ClusterRecord;

/** Names a record, also after rotation. A whole `ShownRecord` is one, too, and spares a source the looking up. */
export interface RecordKey {
  node: string;
  cursor: string;
}

export type RowFilter = Pick<
  RecordFilter,
  'fromMs' | 'toMs' | 'minLevel' | 'terms' | 'excluded' | 'caseSensitive' | 'regex' | 'source' | 'component'
>;

/** Where a page of records begins, seen from there in the direction asked for. */
export type PagePosition =
  /** The very first record, or behind the last one. */
  | 'start'
  | 'end'
  /** Of the whole, as the scroll bar maps it: 0 is the start, 1 the end. */
  | { fraction: number }
  | { timeMs: number }
  /** Newer: this record first. Older: those before it. */
  | { at: RecordKey }
  /** Next to this record, not itself. */
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
  /** Right behind this record. What is before `sinceMs` need not be told, however late it was written. */
  | { next: RecordKey; sinceMs?: number }
  | { timeMs: number };

export interface PageOptions {
  signal?: AbortSignal;
  /** How long may be looked; what was found by then is the page, and `next` goes on. */
  budgetMs?: number;
}

export interface Page {
  /** Oldest first, whatever the direction. */
  records: ShownRecord[];
  /** Goes on in the same direction; `null` when nothing is left there. */
  next: string | null;
  /** `true` when it ended because its time was over. */
  isOutOfTime: boolean;
  scannedBytes: number;
  /** How far it has every matching record: the end of its coverage in the direction asked for; `null` where unknown. */
  reachedMs: number | null;
  problems: ShownProblem[];
  /** Files left out because another one has all of their text: nothing is missing. */
  duplicates: MemberDuplicateFile[];
  /** Of every member asked; one for a single node. */
  members: MemberReport[];
}

export interface HistogramResult {
  bucketMs: number;
  buckets: HistogramBucket[];
  /** The part that was really counted; outside of it nothing is known. `null`: all. */
  counted: { fromMs: number; toMs: number } | null;
  members: MemberReport[];
}

/** What the scroll bar stands for. */
export type Extent =
  | { kind: 'bytes'; totalBytes: number; firstMs: number | null; lastMs: number | null }
  | { kind: 'time'; firstMs: number; lastMs: number };

/** The logs a workspace shows: one log of one node, or several, merged by time. Holds nothing open between questions. */
export interface LogSource {
  /** Nodes whose records come from here, as far as known before asking. */
  readonly nodes: readonly string[];
  page(request: PageRequest, options?: PageOptions): Promise<Page>;
  /**
   * Records as they are written, after an empty batch; without end until the signal fires. Where several logs are merged
   * by time, some that came before `next` are told again: whoever follows knows them by their keys.
   */
  follow(
    request: { from: FollowFrom; filter: RowFilter },
    options: { signal: AbortSignal },
  ): AsyncIterable<ClusterFollowItem[]>;
  histogram(request: { filter: RowFilter; buckets: number }, options?: PageOptions): Promise<HistogramResult>;
  extent(options?: { signal?: AbortSignal }): Promise<Extent>;
  /** Where a record stands in the extent, 0 to 1; `undefined` where that cannot be told. */
  fractionAt(record: ShownRecord, extent: Extent): number | undefined;
}
