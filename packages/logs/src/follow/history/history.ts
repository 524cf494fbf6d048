import { decodePosition, resumeCursor } from '../../cursor/cursor.ts';
import { LogError } from '../../log-error.ts';
import type { FollowItem, FollowQuery, FoundRecord, StartPoint } from '../../types.ts';
import type { RecordRing } from '../ring/record-ring.ts';
import { currentJunction, type Junction, type TailReader, tailPosition } from '../tail-reader.ts';
import { findRemaining } from './find-remaining.ts';
import { type HistoryDeps, queryFor, searchAll, searchExisting, timeOf } from './search-history.ts';
import { TextChanges } from './text-changes.ts';

/** Records of a batch when they are emitted from memory. */
const BATCH_RECORDS = 1000;

/** Rounds in a row that may fail without emitting anything; then the follow continues with the newest records. */
const MAX_FAILURES = 10;

/**
 * Emits everything from `start` (or from the beginning) up to the reader's position in the ring. If the ring moves past
 * that position while a long history is emitted, another round of history follows, until the ring can take over.
 */
export function emitSince(
  reader: TailReader,
  start: StartPoint | undefined,
  deps: HistoryDeps,
): AsyncGenerator<FollowItem[], void, undefined> {
  return new History(reader, start, deps).emit();
}

/** Where a history ends that cannot end at a record: before a time, or with the files. */
interface HistoryEnd {
  toMs: number | undefined;
  /** The ring still continues where the reader joined. */
  isHeld: boolean;
}

/** One attempt to emit the history up to a junction. */
interface Round extends Junction {
  number: number;
  /** The junction is where the reader joined. */
  isHeld: boolean;
}

class History {
  readonly #reader: TailReader;
  readonly #deps: HistoryDeps;
  readonly #changes: TextChanges;
  /** A cursor given by a user fails if its record was deleted; a follow that resumes gets a gap. */
  readonly #isStrict: boolean;
  #from: StartPoint | undefined;
  /** Cursor of the record emitted last. */
  #last: string | undefined;
  #end: HistoryEnd | undefined;
  /** Rounds in a row that failed. */
  #failures = 0;

  constructor(reader: TailReader, start: StartPoint | undefined, deps: HistoryDeps) {
    this.#reader = reader;
    this.#deps = deps;
    this.#changes = new TextChanges(reader.tail, start && 'cursor' in start ? start.cursor : undefined);
    this.#isStrict = isStrict(start);
    this.#from = start;
  }

  async *emit(): AsyncGenerator<FollowItem[], void, undefined> {
    const { tail, joined } = this.#reader;
    for (let number = 0; !this.#deps.signal.aborted; number++) {
      const isHeld = (this.#end?.isHeld ?? number < 2) && joined.seq >= tail.ring.firstSeq;
      const round = { number, isHeld, ...(isHeld ? joined : currentJunction(tail)) };
      try {
        yield* this.#emitRange(round);
      } catch (error) {
        if (!isGone(error)) throw error;
        // One end of this range may have been renamed or truncated during the search: try once more.
        if (this.#last === undefined && number === 0) continue;
        if (yield* this.#recover(error, round)) continue;
      }
      const { seq, until } = round;
      this.#reader.moveTo(seq, this.#last);
      if (seq >= tail.ring.firstSeq) return yield* this.#changes.passEnd(until);
      // If the end of the range was deleted, nothing from there on was emitted. After a record, its time is known as well.
      if (this.#last !== undefined) this.#from = { cursor: this.#last };
      else if (until !== undefined && !this.#end) this.#from = { record: until };
      this.#end = undefined;
    }
  }

  async *#emitRange({ until, unread }: Round): AsyncGenerator<FollowItem[], void, undefined> {
    const reader = this.#reader;
    const range = { from: this.#from, ...(this.#end ? { toMs: this.#end.toMs } : { until }) };
    for await (const { records, isGone: isPartGone } of searchAll(reader, range, this.#deps)) {
      if (isPartGone) yield [this.#gap()];
      // One by one: a file that is being copied may be found twice in one part.
      const fresh = records.filter((record) => record.file !== unread && reader.delivered.add(record));
      const newest = fresh.at(-1);
      if (newest) {
        this.#last = resumeCursor(newest);
        this.#failures = 0;
      }
      yield* this.#changes.pass(fresh);
    }
    // The position at which the ring continues is no longer on disk.
    if (this.#end?.toMs !== undefined) yield [this.#gap()];
  }

  /** Prepares another round after one whose start or end was not found. Returns false if there should be none. */
  async *#recover(error: unknown, { isHeld, seq }: Round): AsyncGenerator<FollowItem[], boolean, undefined> {
    const { tail } = this.#reader;
    if (this.#last !== undefined) this.#from = { cursor: this.#last };
    const lost = await findLost(this.#from, this.#reader, this.#deps);
    const mustThrow = this.#isStrict && this.#last === undefined;
    if (lost && mustThrow) throw error;
    const mayRetry = ++this.#failures < MAX_FAILURES;
    if (lost && mayRetry) {
      // The record before the gap was deleted: report that first, then emit whatever is left that is not older.
      yield [this.#gap()];
      this.#changes.forget();
      this.#from = await findRemaining(lost.timeMs, tail);
      this.#last = undefined;
      return true;
    }
    if ((this.#last !== undefined || !isHeld) && mayRetry) {
      // The end of the range may be renamed at this moment, or the reader has not noticed yet that it was deleted.
      await tail.catchUp();
      return true;
    }
    if (mustThrow && (this.#end || !isHeld)) throw error;
    yield [this.#gap()];
    if (this.#end) return false;
    // What is missing was before the ring's first record, or among what is left of the files.
    if (firstTimeFrom(tail.ring, seq) === undefined) await tail.catchUp();
    // If the ring has nothing, the end is that of the files; what the ring gets of them, too, is deduplicated.
    this.#end = { isHeld, toMs: isHeld ? firstTimeFrom(tail.ring, seq) : undefined };
    return true;
  }

  #gap(): FollowItem {
    return goneGap(this.#reader, this.#last);
  }
}

/** The time (if known) of the record at which a range starts, if that record was deleted. */
async function findLost(
  from: StartPoint | undefined,
  reader: TailReader,
  deps: HistoryDeps,
): Promise<{ timeMs: number | undefined } | undefined> {
  const cursor = from && ('cursor' in from ? from.cursor : 'record' in from ? from.record : undefined);
  if (cursor === undefined || !(await findRecord(cursor, reader, deps)).isGone) return undefined;
  return { timeMs: timeOf(cursor) };
}

/** Whether the record of a cursor was deleted, and otherwise its time. */
export async function findRecord(
  cursor: string,
  reader: TailReader,
  deps: HistoryDeps,
): Promise<{ isGone: boolean; timeMs?: number | undefined }> {
  const { name, family } = reader.tail.target;
  const selection = family === undefined ? { file: name } : { family };
  const query = { ...selection, order: 'oldest', limit: 1, before: 0, after: 0, start: { record: cursor } } as const;
  try {
    for await (const items of searchExisting(query, deps)) {
      for (const item of items) if (item.type === 'record') return { isGone: false, timeMs: item.timeMs };
    }
    return { isGone: false };
  } catch (error) {
    if (!isGone(error)) throw error;
    return { isGone: true };
  }
}

/** A cursor given by a user fails if its record was deleted; a follow that resumes gets a gap. */
export function isStrict(start: FollowQuery['start'] | StartPoint | undefined): boolean {
  if (typeof start !== 'object' || 'timeMs' in start || 'back' in start) return false;
  if (!('cursor' in start)) return true;
  const { marks, isWhole } = decodePosition(start.cursor);
  return !isWhole && marks.every(({ delivered }) => delivered === undefined);
}

/** Just after the first timestamp among the entries from `seq` on; records with that very time are deduplicated. */
function firstTimeFrom(ring: RecordRing, seq: number): number | undefined {
  for (let at = seq; at < ring.nextSeq; at++) {
    const entry = ring.at(at);
    if (entry?.kind === 'record' && !Number.isNaN(entry.piece.head.timeMs)) return entry.piece.head.timeMs + 1;
  }
  return undefined;
}

/** A gap of unknown size that cannot be loaded any more. */
export function goneGap({ tail }: TailReader, after: string | null = null): FollowItem {
  return { type: 'gap', family: tail.family, reason: 'gone', bytes: null, after, until: null };
}

export function isGone(thrown: unknown): boolean {
  return thrown instanceof LogError && thrown.code === 'CURSOR_GONE';
}

/** The newest `count` records before the reader's position, oldest first. */
export async function lastRecords(reader: TailReader, count: number, deps: HistoryDeps): Promise<FoundRecord[]> {
  const { tail } = reader;
  const { seq, after } = tailPosition(tail);
  const unemitted = tail.current?.text.isUnemitted ? tail.name : undefined;
  const found = await newestBefore(reader, { cursor: tail.positionCursor, count }, deps).catch((error: unknown) => {
    // The live file was deleted: emit what is left of the log. What the ring also holds is deduplicated.
    if (!isGone(error)) throw error;
    return newestBefore(reader, { cursor: undefined, count }, deps);
  });
  const records = found.filter(({ file }) => file !== unemitted).reverse();
  for (const record of records) reader.delivered.note(record);
  reader.moveTo(seq, after);
  return records;
}

async function newestBefore(
  reader: TailReader,
  { cursor, count }: { cursor: string | undefined; count: number },
  deps: HistoryDeps,
): Promise<FoundRecord[]> {
  const start = cursor !== undefined && { start: { cursor } };
  const query = queryFor(reader, deps, { order: 'newest', limit: count, ...start });
  const found: FoundRecord[] = [];
  for await (const items of searchExisting(query, deps)) {
    for (const item of items) if (item.type === 'record') found.push(item);
  }
  return found;
}

export function* inBatches(items: readonly FollowItem[]): Generator<FollowItem[], void, undefined> {
  for (let start = 0; start < items.length; start += BATCH_RECORDS) yield items.slice(start, start + BATCH_RECORDS);
}
