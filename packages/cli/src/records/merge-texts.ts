import type { RecordTexts } from './record-texts.ts';

export interface TextLane {
  batches: AsyncGenerator<RecordTexts, void, undefined>;
  /** Reads the current page to its closing record, which reports what could not be read. */
  finish(): Promise<void>;
}

export interface MergeTextsOptions {
  order: 'newest' | 'oldest';
  /** Ends after this many records, once every lane has reported what it covered. */
  limit: number;
  /** Called if it ended before the lanes. */
  onMore(): void;
}

/** What is written at once. */
export interface TextBatch {
  text: Uint8Array;
  /** Number of records. */
  count: number;
}

/** Large enough for efficient writes. */
const BATCH_BYTES = 256 * 1024;

const NEWLINE = Buffer.from('\n');

/**
 * Merges the texts of all lanes by time, in the order of `mergeRecords`: a record without a timestamp stays after its
 * predecessor. Where another lane follows a text without a newline, one is added.
 */
export async function* mergeTexts(
  lanes: readonly TextLane[],
  { order, limit, onMore }: MergeTextsOptions,
): AsyncGenerator<TextBatch, void, undefined> {
  const heads = lanes.map((lane) => new Head(lane, order));
  const joined = new JoinedTexts();
  try {
    for (let left = limit; left > 0; ) {
      for (const head of heads) {
        if (head.isFilled) continue;
        yield* joined.flush();
        await head.fill();
      }
      const first = pickFirst(heads);
      if (!first) break;
      left -= joined.add(first, first.takeRun(left, bounds(heads, first)));
      if (joined.bytes >= BATCH_BYTES) yield* joined.flush();
    }
    yield* joined.flush();
    if (heads.some(({ hasNext }) => hasNext)) onMore();
    await Promise.all(lanes.map((lane) => lane.finish()));
  } finally {
    await Promise.all(lanes.map(({ batches }) => batches.return()));
  }
}

function pickFirst(heads: readonly Head[]): Head | undefined {
  let first: Head | undefined;
  for (const head of heads) if (!head.isDone && (!first || head.rank < first.rank)) first = head;
  return first;
}

/** Up to where a lane comes first: with equal ranks, the lane that was given first does. */
interface Bounds {
  below: number;
  atMost: number;
}

function bounds(heads: readonly Head[], first: Head): Bounds {
  let below = Number.POSITIVE_INFINITY;
  let atMost = Number.POSITIVE_INFINITY;
  let isAfter = false;
  for (const head of heads) {
    if (head === first) isAfter = true;
    else if (head.isDone) continue;
    else if (isAfter) atMost = Math.min(atMost, head.rank);
    else below = Math.min(below, head.rank);
  }
  return { below, atMost };
}

/** Records of one lane in a row. */
interface Run {
  text: Buffer;
  start: number;
  end: number;
  count: number;
}

/** Collects runs and joins them: short ones are copied, because every piece that is kept costs more. */
class JoinedTexts {
  bytes = 0;
  #pieces: Uint8Array[] = [];
  #room: Buffer | undefined;
  #used = 0;
  #count = 0;
  #last: Head | undefined;
  #isOpen = false;

  /** Returns the number of records. */
  add(head: Head, { text, start, end, count }: Run): number {
    if (this.#isOpen && this.#last !== head) this.#push(NEWLINE, 0, 1);
    this.#last = head;
    this.#push(text, start, end);
    this.#isOpen = text[end - 1] !== NEWLINE[0];
    this.#count += count;
    return count;
  }

  *flush(): Generator<TextBatch, void, undefined> {
    this.#endRoom();
    const [only] = this.#pieces;
    if (!only) return;
    const text = this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces, this.bytes);
    const batch = { text, count: this.#count };
    this.#pieces = [];
    this.bytes = 0;
    this.#count = 0;
    yield batch;
  }

  #push(text: Buffer, start: number, end: number): void {
    this.bytes += end - start;
    if (end - start >= LONG_BYTES) {
      this.#endRoom();
      this.#pieces.push(text.subarray(start, end));
      return;
    }
    if (this.#room && this.#used + end - start > this.#room.length) this.#endRoom();
    this.#room ??= Buffer.allocUnsafe(BATCH_BYTES + LONG_BYTES);
    this.#used += text.copy(this.#room, this.#used, start, end);
  }

  #endRoom(): void {
    if (this.#used > 0) this.#pieces.push((this.#room as Buffer).subarray(0, this.#used));
    this.#room = undefined;
    this.#used = 0;
  }
}

/** Longer runs are not copied. */
const LONG_BYTES = 16 * 1024;

const NOTHING: RecordTexts = { text: new Uint8Array(0), ends: [], times: [] };

/** The front of one lane. */
class Head {
  readonly #lane: TextLane;
  readonly #sign: 1 | -1;
  #batch = NOTHING;
  #text = Buffer.alloc(0);
  #index = 0;
  #rank = Number.NEGATIVE_INFINITY;
  isDone = false;

  constructor(lane: TextLane, order: 'newest' | 'oldest') {
    this.#lane = lane;
    this.#sign = order === 'oldest' ? 1 : -1;
  }

  /** Whether the next record, or the end, is known. */
  get isFilled(): boolean {
    return this.isDone || this.hasNext;
  }

  get hasNext(): boolean {
    return this.#index < this.#batch.ends.length;
  }

  /** The lane with the smallest rank is next. */
  get rank(): number {
    const timeMs = this.#batch.times[this.#index] ?? Number.NaN;
    return Number.isNaN(timeMs) ? this.#rank : this.#sign * timeMs;
  }

  async fill(): Promise<void> {
    const { done, value } = await this.#lane.batches.next();
    this.isDone = done === true;
    this.#batch = value ?? NOTHING;
    const { buffer, byteOffset, length } = this.#batch.text;
    this.#text = Buffer.from(buffer as ArrayBuffer, byteOffset, length);
    this.#index = 0;
  }

  /** The next record, and those after it that come before the other lanes. */
  takeRun(most: number, { below, atMost }: Bounds): Run {
    const { ends } = this.#batch;
    const from = this.#index;
    const isAlone = below === Number.POSITIVE_INFINITY && atMost === Number.POSITIVE_INFINITY;
    // The others have ended: the rank no longer matters.
    if (isAlone) this.#index = Math.min(ends.length, from + most);
    else
      do {
        this.#rank = this.rank;
        this.#index++;
      } while (this.hasNext && this.#index - from < most && this.rank < below && this.rank <= atMost);
    const start = from === 0 ? 0 : (ends[from - 1] ?? 0);
    return { text: this.#text, start, end: ends[this.#index - 1] ?? start, count: this.#index - from };
  }
}
