import type { LogSource, PrintableRecord } from '../sources/log-source.ts';

/** A record and its source. */
export interface SourcedRecord {
  source: LogSource;
  record: PrintableRecord;
}

export interface Lane {
  source: LogSource;
  batches: AsyncGenerator<PrintableRecord[], void, undefined>;
  /** Reads the current page to its closing record, which reports what could not be read. */
  finish(): Promise<void>;
}

export interface MergeOptions {
  order: 'newest' | 'oldest';
  /** Ends after this many records, once every lane has reported what it covered. */
  limit?: number;
  /** Called if it ended before the lanes. */
  onMore?(): void;
}

/** Large enough for efficient writes, small enough to appear promptly. */
const BATCH_RECORDS = 256;

/** Merges the records of all lanes by time. A record without a timestamp stays after its predecessor in its lane. */
export async function* mergeRecords(
  lanes: readonly Lane[],
  { order, limit = Number.POSITIVE_INFINITY, onMore }: MergeOptions,
): AsyncGenerator<SourcedRecord[], void, undefined> {
  const heads = lanes.map((lane) => new Head(lane, order));
  try {
    let batch: SourcedRecord[] = [];
    for (let left = limit; left > 0; left--) {
      for (const head of heads) {
        if (head.isFilled) continue;
        if (batch.length > 0) yield batch;
        batch = [];
        await head.fill();
      }
      const next = pickNext(heads);
      if (!next) return;
      batch.push(next.take());
      if (batch.length >= BATCH_RECORDS) {
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
    if (heads.some(({ hasNext }) => hasNext)) onMore?.();
    await Promise.all(lanes.map((lane) => lane.finish()));
  } finally {
    await Promise.all(lanes.map(({ batches }) => batches.return()));
  }
}

function pickNext(heads: readonly Head[]): Head | undefined {
  let next: Head | undefined;
  for (const head of heads) if (!head.isDone && (!next || head.rank < next.rank)) next = head;
  return next;
}

/** The front of one lane. */
class Head {
  readonly #lane: Lane;
  readonly #sign: 1 | -1;
  #records: PrintableRecord[] = [];
  #index = 0;
  #rank = Number.NEGATIVE_INFINITY;
  isDone = false;

  constructor(lane: Lane, order: 'newest' | 'oldest') {
    this.#lane = lane;
    this.#sign = order === 'oldest' ? 1 : -1;
  }

  /** Whether the next record, or the end, is known. */
  get isFilled(): boolean {
    return this.isDone || this.hasNext;
  }

  /** Whether it holds a record. */
  get hasNext(): boolean {
    return this.#index < this.#records.length;
  }

  /** The lane with the smallest rank is next. */
  get rank(): number {
    const { timeMs, atMs = timeMs } = this.#records[this.#index] ?? {};
    return atMs === undefined ? this.#rank : this.#sign * atMs;
  }

  async fill(): Promise<void> {
    const { done, value } = await this.#lane.batches.next();
    this.isDone = done === true;
    this.#records = value ?? [];
    this.#index = 0;
  }

  take(): SourcedRecord {
    const record = this.#records[this.#index];
    if (!record) throw new RangeError('no record buffered');
    this.#rank = this.rank;
    this.#index++;
    return { source: this.#lane.source, record };
  }
}
