import { type ClusterDigest, type ClusterFollowItem, type Level, PortholeError } from '@porthole/client';
import type { RecordKey } from '../../state/view.ts';
import {
  type Extent,
  type FieldsResult,
  type FollowFrom,
  type FollowRequest,
  type HistogramRequest,
  type HistogramResult,
  isAtLeast,
  type LogSource,
  type Page,
  type PageOptions,
  type PageRequest,
  type RowFilter,
  type ShownRecord,
  type TopResult,
} from '../source/log-source.ts';

export const FIRST_MS = Date.UTC(2026, 10, 15, 10);

const NODE = 'n1';

/** Two records per second; every tenth is an error, every fifth a warning. */
export function fakeRecord(number: number): ShownRecord {
  const level: Level = number % 10 === 9 ? 'ERROR' : number % 5 === 4 ? 'WARN' : 'INFO';
  const atMs = FIRST_MS + number * 500;
  const message = `record ${number}`;
  return {
    type: 'record',
    node: NODE,
    file: 'a.log',
    offset: number * 100,
    bytes: 100,
    cursor: `c${number}`,
    timeMs: atMs,
    atMs,
    level,
    message,
    raw: message,
  };
}

export function recordNumber({ cursor }: RecordKey): number {
  return Number(cursor.slice(1));
}

interface Follower {
  items: ClusterFollowItem[][];
  /** Index of the next record to emit. */
  next: number;
  filter: RowFilter;
  failure: unknown;
  wake: () => void;
}

/** A log of numbered records in memory, controlled by a test. */
export class FakeSource implements LogSource {
  readonly nodes = [NODE];
  readonly requests: PageRequest[] = [];
  readonly followedFrom: FollowFrom[] = [];
  /** Records a page scans before its time budget is over. */
  scanRecords: number | ((request: PageRequest) => number) = Infinity;
  /** Called with every page; the page fails or waits with it. */
  onPage: (request: PageRequest, signal: AbortSignal | undefined) => void | Promise<void> = () => {};
  /** The error a new follow fails with. */
  followFailure: unknown;
  /** The number of leading records that no longer exist. */
  removedRecords = 0;
  /** Counting exceeds its time budget. */
  isCountPartial = false;
  readonly #records: ShownRecord[] = [];
  readonly #followers = new Set<Follower>();

  constructor(count: number) {
    this.write(count, { isSilent: true });
  }

  get size(): number {
    return this.#records.length;
  }

  get followers(): number {
    return this.#followers.size;
  }

  /** Appends records; followers receive them unless `isSilent`: then they miss them for good. */
  write(count: number, { isSilent = false } = {}): void {
    for (let left = count; left > 0; left--) this.#records.push(fakeRecord(this.#records.length));
    for (const follower of this.#followers) {
      if (isSilent) follower.next = this.#records.length;
      follower.wake();
    }
  }

  emit(...items: ClusterFollowItem[]): void {
    for (const follower of this.#followers) {
      follower.items.push(items);
      follower.wake();
    }
  }

  /** Ends every follow with an error. */
  breakFollow(error: unknown): void {
    for (const follower of this.#followers) {
      follower.failure = error;
      follower.wake();
    }
  }

  async page(request: PageRequest, { signal }: PageOptions = {}): Promise<Page> {
    this.requests.push(request);
    await this.onPage(request, signal);
    signal?.throwIfAborted();
    const { direction, limit, filter } = request;
    const step = direction === 'older' ? -1 : 1;
    const records: ShownRecord[] = [];
    let index = this.#indexOf(request);
    let scanned = 0;
    const most = typeof this.scanRecords === 'number' ? this.scanRecords : this.scanRecords(request);
    const isInside = () => index >= this.removedRecords && index < this.#records.length;
    for (; isInside() && records.length < limit && scanned < most; index += step, scanned++) {
      const record = this.#records[index];
      if (record && matches(record, filter)) records.push(record);
    }
    const reached = this.#records[index - step];
    return {
      records: direction === 'older' ? records.reverse() : records,
      next: isInside() ? `i${index}` : null,
      scannedBytes: scanned * 100,
      reachedMs: reached?.atMs ?? null,
      problems: [],
      duplicates: [],
      members: [{ id: NODE, outcome: 'ok', detail: null, elapsedMs: 1, count: records.length, asOfMs: null }],
    };
  }

  async *follow(
    { from, filter }: FollowRequest,
    { signal }: { signal: AbortSignal },
  ): AsyncGenerator<ClusterFollowItem[], void, undefined> {
    this.followedFrom.push(from);
    if (this.followFailure !== undefined) throw this.followFailure;
    const follower: Follower = { items: [], next: this.#followIndex(from), filter, failure: undefined, wake: () => {} };
    this.#followers.add(follower);
    const onAbort = () => follower.wake();
    signal.addEventListener('abort', onAbort);
    try {
      yield [];
      while (!signal.aborted) {
        if (follower.failure !== undefined) throw follower.failure;
        const batch = this.#nextBatch(follower);
        if (batch.length > 0) yield batch;
        else
          await new Promise<void>((resolve) => {
            follower.wake = resolve;
          });
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#followers.delete(follower);
    }
  }

  async fields(): Promise<FieldsResult> {
    return { fields: [], totalFields: 0, records: 0, isSample: false, counted: null, members: [] };
  }

  async top({ by }: { by: string }): Promise<TopResult> {
    const none = { values: [], others: 0, missing: this.size, distinct: 0 };
    return { by, ...none, isExact: true, counted: null, members: [] };
  }

  async digest(): Promise<ClusterDigest> {
    return { groups: [], totalGroups: 0, ungrouped: 0, members: [] };
  }

  histogram({ filter }: HistogramRequest): Promise<HistogramResult> {
    const counts: HistogramResult['buckets'][number]['counts'] = {};
    for (const record of this.#records)
      if (matches(record, filter) && record.level) counts[record.level] = (counts[record.level] ?? 0) + 1;
    return Promise.resolve({
      bucketMs: 3_600_000,
      buckets: [{ startMs: FIRST_MS, counts }],
      counted: this.isCountPartial ? { fromMs: FIRST_MS, toMs: FIRST_MS + 1000 } : null,
      members: [],
    });
  }

  extent(): Promise<Extent> {
    const lastMs = this.#records.at(-1)?.atMs ?? FIRST_MS;
    return Promise.resolve({ firstMs: FIRST_MS, lastMs });
  }

  #nextBatch(follower: Follower): ClusterFollowItem[] {
    const pending = follower.items.splice(0).flat();
    const records = this.#records.slice(follower.next).filter((record) => matches(record, follower.filter));
    follower.next = this.#records.length;
    return [...records, ...pending];
  }

  #followIndex(from: FollowFrom): number {
    if (from === 'end') return this.size;
    return this.#indexAt(from.timeMs);
  }

  #indexOf({ direction, from }: PageRequest): number {
    const isOlder = direction === 'older';
    if (from === 'start') return isOlder ? -1 : this.removedRecords;
    if (from === 'end') return isOlder ? this.size - 1 : this.size;
    if ('page' in from) return Number(from.page.slice(1));
    if ('at' in from) return this.#known(from.at) - (isOlder ? 1 : 0);
    if ('next' in from) return this.#known(from.next) + (isOlder ? -1 : 1);
    const first = this.#indexAt(from.timeMs);
    return isOlder ? first - 1 : first;
  }

  #indexAt(timeMs: number): number {
    const index = this.#records.findIndex(({ atMs }) => atMs !== undefined && atMs >= timeMs);
    return index < 0 ? this.size : index;
  }

  #known(key: RecordKey): number {
    const index = recordNumber(key);
    if (index >= this.removedRecords && index < this.size) return index;
    throw new PortholeError('CURSOR_GONE', `there is no record ${key.cursor} any more`);
  }
}

function matches(
  record: ShownRecord,
  { fromMs, toMs, minLevel, terms = [], excluded = [], regex }: RowFilter,
): boolean {
  const { atMs = 0, message, level } = record;
  if ((fromMs !== undefined && atMs < fromMs) || (toMs !== undefined && atMs >= toMs)) return false;
  if (minLevel !== undefined && !isAtLeast(level, minLevel)) return false;
  if (regex !== undefined && !message.includes(regex)) return false;
  return terms.every((term) => message.includes(term)) && !excluded.some((term) => message.includes(term));
}
