import type { ClusterEnd, ClusterItem, ClusterRecord } from '@porthole/contract';
import type { StartPoint } from '@porthole/logs/types';
import type { SidePosition } from './sourced-cursor.ts';

/** One of the two searches that are merged: of the members, or of the archive. */
export interface SideOptions {
  /** Searches one page from here; `undefined`: from the beginning. */
  open(start: StartPoint | undefined): AsyncIterable<ClusterItem[]>;
  /** Where the first page starts. */
  start: StartPoint | undefined;
  /** Where it is resumed. */
  position: SidePosition;
  newestFirst: boolean;
}

/**
 * The records of one side, page after page. Because a merge may stop in the middle of a page, its position is the start of
 * that page and the last record that was taken: to resume, the page is read again up to that record.
 */
export class SearchSide {
  readonly ends: ClusterEnd[] = [];
  /** Records taken, by node. */
  readonly taken = new Map<string, number>();
  /** The last time that was taken: of records out of order, the one furthest on. */
  reachedMs: number | null = null;
  readonly #options: SideOptions;
  #page: string | null;
  #after: SidePosition['after'];
  #batches: AsyncIterator<ClusterItem[]> | undefined;
  #buffer: readonly ClusterRecord[] = [];
  #next = 0;
  #lastKey = Number.NEGATIVE_INFINITY;
  /** The end of the page that is being taken from. */
  #end: ClusterEnd | undefined;
  /** While the page is read again: what comes before the record to resume after, and may have to be emitted. */
  #held: ClusterRecord[] | undefined;

  constructor(options: SideOptions) {
    this.#options = options;
    const { page, after } = options.position;
    this.#page = page;
    this.#after = after;
    if (after) this.#held = [];
  }

  get hasNext(): boolean {
    return this.#next < this.#buffer.length;
  }

  /** Nothing more comes: all was found, or a limit other than that of a page ended it. */
  get isOver(): boolean {
    const end = this.#end;
    return !this.hasNext && end !== undefined && (end.reason !== 'limit' || end.cursor === null);
  }

  /** Time of the next record, negated for newest first; one without a time stays behind its predecessor. */
  get key(): number {
    const atMs = this.#buffer[this.#next]?.atMs;
    return atMs === undefined ? this.#lastKey : this.#keyOf(atMs);
  }

  take(): ClusterRecord {
    this.#lastKey = this.key;
    const record = this.#buffer[this.#next++] as ClusterRecord;
    this.#after = { node: record.node, cursor: record.cursor, atMs: record.atMs ?? null };
    this.#reach(record.atMs);
    this.taken.set(record.node, (this.taken.get(record.node) ?? 0) + 1);
    return record;
  }

  /** Reads the next batch, which may have no records. Only when the last one was taken. */
  async pull(): Promise<void> {
    if (this.hasNext || this.isOver) return;
    if (this.#end) {
      this.#page = this.#end.cursor;
      this.#after = null;
      this.#end = undefined;
      this.#batches = undefined;
    }
    const start = this.#page === null ? this.#options.start : { cursor: this.#page };
    this.#batches ??= this.#options.open(start)[Symbol.asyncIterator]();
    const { value = [], done } = await this.#batches.next();
    if (done) throw new Error('a search ended without its end');
    const records: ClusterRecord[] = [];
    for (const item of value) {
      if (item.type === 'record') records.push(item);
      else this.#end = item;
    }
    if (this.#end) this.ends.push(this.#end);
    this.#buffer = this.#held ? this.#resume(this.#held, records) : records;
    this.#next = 0;
  }

  async close(): Promise<void> {
    await this.#batches?.return?.();
  }

  /** Where to resume; `null`: everything was taken. */
  position(): SidePosition | null {
    if (this.#end === undefined || this.hasNext) return { page: this.#page, after: this.#after };
    return this.#end.cursor === null ? null : { page: this.#end.cursor, after: null };
  }

  #reach(atMs: number | undefined): void {
    if (atMs === undefined) return;
    const isFurther = this.reachedMs === null || this.#keyOf(atMs) > this.#keyOf(this.reachedMs);
    if (isFurther) this.reachedMs = atMs;
  }

  #keyOf(atMs: number): number {
    return this.#options.newestFirst ? -atMs : atMs;
  }

  /** Leaves out what was taken before. If its last record is gone, what is behind its time is emitted. */
  #resume(held: ClusterRecord[], records: readonly ClusterRecord[]): readonly ClusterRecord[] {
    const { node, cursor, atMs } = this.#after ?? { node: '', cursor: '', atMs: null };
    const found = records.findIndex((record) => record.node === node && record.cursor === cursor);
    if (found >= 0) {
      this.#held = undefined;
      return records.slice(found + 1);
    }
    held.push(...records);
    if (!this.#end) return [];
    this.#held = undefined;
    const reached = atMs === null ? Number.NEGATIVE_INFINITY : this.#keyOf(atMs);
    return held.filter((record) => record.atMs !== undefined && this.#keyOf(record.atMs) > reached);
  }
}
