import { bytesOf, type MergedRun, mergeByTime, type RecordBatch, type Timed } from '@porthole/records';
import type { LogSource, PrintableRecord } from '../sources/log-source.ts';
import type { RecordList } from './find-pages.ts';

/** A record and its source. */
export interface SourcedRecord {
  source: LogSource;
  record: PrintableRecord;
}

/** What one source has of a merge. */
export interface Lane<Batch extends Timed> {
  source: LogSource;
  batches: AsyncGenerator<Batch, void, undefined>;
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

/** The decoded records of all lanes, merged by time. */
export async function* mergeRecords(
  lanes: readonly Lane<RecordList>[],
  options: MergeOptions,
): AsyncGenerator<SourcedRecord[], void, undefined> {
  for await (const runs of mergeLanes(lanes, options))
    yield runs.flatMap(({ lane, batch: { records }, from, to }) => {
      const { source } = lanes[lane] as Lane<RecordList>;
      return records.slice(from, to).map((record) => ({ source, record }));
    });
}

/** The records of all lanes as they are printed, merged by time, and how many there are. */
export async function* mergeTexts(
  lanes: readonly Lane<RecordBatch>[],
  options: MergeOptions,
): AsyncGenerator<{ text: Uint8Array; count: number }, void, undefined> {
  const texts = new JoinedTexts();
  for await (const runs of mergeLanes(lanes, options))
    yield { text: texts.join(runs), count: runs.reduce((sum, { from, to }) => sum + to - from, 0) };
}

function mergeLanes<Batch extends Timed>(
  lanes: readonly Lane<Batch>[],
  { order, limit, onMore }: MergeOptions,
): AsyncGenerator<MergedRun<Batch>[], void, undefined> {
  const onLimit = async (hasMore: boolean) => {
    if (hasMore) onMore?.();
    await Promise.all(lanes.map((lane) => lane.finish()));
  };
  const batches = lanes.map((lane) => lane.batches);
  return mergeByTime(batches, { order, limit, onLimit });
}

const NEWLINE = 10;

/** Joins what is printed. Where another lane follows a text without a newline, one is added. */
class JoinedTexts {
  /** The last lane whose text is not at the end of a line. */
  #openLane: number | undefined;

  join(runs: readonly MergedRun<RecordBatch>[]): Uint8Array {
    const [first] = runs;
    if (first && runs.length === 1 && !this.#isCut(first))
      return this.#note(first, bytesOf(first.batch, first.from, first.to));
    const texts = runs.map(({ batch, from, to }) => bytesOf(batch, from, to));
    const joined = Buffer.allocUnsafe(texts.reduce((sum, { length }) => sum + length + 1, 0));
    let at = 0;
    for (const [index, run] of runs.entries()) {
      const text = texts[index] as Uint8Array;
      if (this.#isCut(run)) joined[at++] = NEWLINE;
      joined.set(this.#note(run, text), at);
      at += text.length;
    }
    return joined.subarray(0, at);
  }

  #isCut({ lane }: MergedRun<RecordBatch>): boolean {
    return this.#openLane !== undefined && this.#openLane !== lane;
  }

  #note({ lane }: MergedRun<RecordBatch>, text: Uint8Array): Uint8Array {
    this.#openLane = text.at(-1) === NEWLINE ? undefined : lane;
    return text;
  }
}
