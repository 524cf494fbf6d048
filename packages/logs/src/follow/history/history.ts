import {
  decodeCursor,
  decodePosition,
  encodeMark,
  type FileMark,
  positionAnchor,
  type RecordMark,
  resumeCursor,
} from '../../cursor/cursor.ts';
import { isMarked, markFile } from '../../cursor/file-mark.ts';
import { isCompressedName } from '../../file/compression.ts';
import { statFd } from '../../fs-calls.ts';
import { isFileFailure, LogError, undefinedIfUnreadable } from '../../log-error.ts';
import type { FollowItem, FollowQuery, FoundRecord, StartPoint } from '../../types.ts';
import type { RecordRing } from '../ring/record-ring.ts';
import { familyMembers, listMembers, readFileStart, targetSource } from '../tail/family-files.ts';
import type { LogTail } from '../tail/log-tail.ts';
import { currentJunction, type Junction, type TailReader, tailPosition } from '../tail/tail-reader.ts';
import { type HistoryDeps, queryFor, searchAll, searchExisting, timeOf } from './search-history.ts';

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
  return reportOnce(new History(reader, start, deps).emit());
}

/** One loss may be found in several ways: of gaps of one log with nothing emitted between them, only the first is. */
export async function* reportOnce(batches: AsyncIterable<FollowItem[]>): AsyncGenerator<FollowItem[], void, undefined> {
  let wasGap = false;
  for await (const items of batches) {
    const isGap = items.length > 0 && items.every((item) => item.type === 'gap' && item.reason === 'gone');
    if (!isGap || !wasGap) yield items;
    wasGap = isGap;
  }
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
      this.#reader.isInHistory = true;
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
  const src = [targetSource(reader.tail.target)];
  const query = { src, order: 'oldest', limit: 1, before: 0, after: 0, start: { record: cursor } } as const;
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
  return { ...familyGap(tail.family), after };
}

export function familyGap(family: string) {
  return { type: 'gap', family, reason: 'gone', bytes: null, after: null, until: null } as const;
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

interface NamedStart {
  name: string;
  head: Buffer;
  firstTimeMs: number | undefined;
}

/**
 * Where to continue after a record with this time whose file was deleted: at what is left and not older. `undefined` is
 * the start of the log: without a time all of it is taken for newer, because rotation deletes the oldest files first.
 */
async function findRemaining(timeMs: number | undefined, tail: LogTail): Promise<StartPoint | undefined> {
  if (timeMs === undefined) return undefined;
  const starts = await readStarts(tail);
  const isUntimed = (start: NamedStart | undefined) => start !== undefined && start.firstTimeMs === undefined;
  if (!starts.some(isUntimed)) return { timeMs };
  // A search by time leaves out files without timestamps; what precedes a newer file or comes last is not older.
  const newer = starts.findIndex(({ firstTimeMs }) => firstTimeMs !== undefined && firstTimeMs >= timeMs);
  let first = newer < 0 ? starts.length : newer;
  while (isUntimed(starts[first - 1])) first--;
  const start = starts[first];
  if (!start) return { timeMs };
  const { name: file, head } = start;
  return { record: encodeMark({ ...markFile(head), file, ...positionAnchor(0), delivered: { bytes: 0, timeMs } }) };
}

/** How the files that are not empty begin, oldest first. */
async function readStarts({ deps, target: { name, family } }: LogTail): Promise<NamedStart[]> {
  const members = family === undefined ? [{ name }] : await listMembers(family, deps);
  const starts: NamedStart[] = [];
  for (const { name: file } of members) {
    const handle = await deps.handles.acquire(file).catch(undefinedIfUnreadable);
    try {
      const start = handle && (await readFileStart(handle, deps).catch(undefinedIfUnreadable));
      if (start && start.head.length > 0) starts.push({ name: file, ...start });
    } finally {
      handle?.release();
    }
  }
  return starts;
}

/** Content of the log in a file other than the live one. */
interface RotatedText {
  head: Buffer;
  /** When its writing began or its file was created; `undefined` if unknown. */
  sinceNs: bigint | undefined;
}

/**
 * Finds where in a log's history its file was truncated. What is written between the copy and the truncation is lost;
 * as it happened while nobody followed, only the history can reveal it.
 */
class TextChanges {
  readonly #tail: LogTail;
  #last: { mark: RecordMark; timeMs: number | undefined; cursor: string | null } | undefined;

  /** `after`: cursor of the record that was delivered last. */
  constructor(tail: LogTail, after?: string) {
    this.#tail = tail;
    const mark = after === undefined ? undefined : decodeCursor(after).at(-1);
    if (mark) this.#last = { mark, timeMs: mark.delivered?.timeMs, cursor: null };
  }

  /** Forgets the last record, after its loss was reported. */
  forget(): void {
    this.#last = undefined;
  }

  /** Emits the records, with a gap wherever the file was truncated between two of them. */
  async *pass(records: readonly FoundRecord[]): AsyncGenerator<FollowItem[], void, undefined> {
    let start = 0;
    for (const [index, record] of records.entries()) {
      const { cursor, timeMs } = record;
      if (this.#last && textKey(cursor) === textKey(this.#last.cursor)) {
        this.#last = { ...this.#last, cursor, timeMs: timeMs ?? this.#last.timeMs };
        continue;
      }
      const [mark] = decodeCursor(cursor);
      if (!mark) continue;
      if (await this.#isTruncatedBefore(mark)) {
        if (index > start) yield records.slice(start, index);
        yield [this.#gap()];
        start = index;
      }
      this.#last = { mark, timeMs, cursor };
    }
    if (start < records.length) yield records.slice(start);
  }

  /** Emits a gap if the file was truncated before `until`, or before the start of a file of which nothing was read yet. */
  async *passEnd(until: string | undefined): AsyncGenerator<FollowItem[], void, undefined> {
    const [next] = until === undefined ? [] : decodeCursor(until);
    if (await this.#isTruncatedBefore(next)) yield [this.#gap()];
  }

  #gap(): FollowItem {
    const after = this.#last?.cursor ?? null;
    return { type: 'gap', family: this.#tail.family, reason: 'truncated', bytes: null, after, until: null };
  }

  /**
   * Whether the last record was truncated away before the next one was written. It was if the live file is older than
   * the last record's text or the copy of it; a renamed file is older than the file that takes over its name.
   */
  async #isTruncatedBefore(next: RecordMark | undefined): Promise<boolean> {
    const { current, target } = this.#tail;
    const last = this.#last;
    if (!last || !current || target.family === undefined || (next && isSameMark(last.mark, next))) return false;
    try {
      const { birthtimeNs: liveNs } = await statFd(current.handle.fd);
      if (liveNs === 0n || isMarked(last.mark, current.text.head)) return false;
      const rotated = await this.#find(last.mark);
      if (rotated && next && next.headBytes > 0 && isMarked(next, rotated.head)) return false;
      const sinceNs = rotated ? rotated.sinceNs : toNs(last.timeMs);
      return sinceNs !== undefined && sinceNs >= liveNs;
    } catch (error) {
      if (!isFileFailure(error)) throw error;
      // The directory cannot be listed or the live file was deleted; the tail reports that.
      return false;
    }
  }

  async #find(mark: RecordMark): Promise<RotatedText | undefined> {
    const { deps, target, name: liveName } = this.#tail;
    // Most likely it still has its name: a listing for each file of a long history takes longer than searching it.
    const named = mark.file === liveName ? undefined : await this.#readMarked(mark.file, mark);
    if (named) return named;
    const members = await familyMembers(await deps.list(target.family), target.family ?? target.name);
    for (const { name, live } of members.reverse()) {
      const text = live ? undefined : await this.#readMarked(name, mark);
      if (text) return text;
    }
    return undefined;
  }

  async #readMarked(name: string, mark: RecordMark): Promise<RotatedText | undefined> {
    const text = await this.#read(name).catch(undefinedIfUnreadable);
    return text && isMarked(mark, text.head) ? text : undefined;
  }

  async #read(name: string): Promise<RotatedText> {
    const { deps } = this.#tail;
    const handle = await deps.handles.acquire(name);
    try {
      const { head, firstTimeMs } = await readFileStart(handle, deps);
      const { birthtimeNs } = await statFd(handle.fd);
      // An archive is always younger than the file it was made from: its text is the only clue to the age.
      return { head, sinceNs: isCompressedName(name) || birthtimeNs === 0n ? toNs(firstTimeMs) : birthtimeNs };
    } finally {
      handle.release();
    }
  }
}

/** The part of a cursor that identifies its file. */
function textKey(cursor: string | null): string | undefined {
  return cursor?.slice(0, cursor.indexOf('.', cursor.indexOf('.') + 1));
}

function isSameMark(a: FileMark, b: FileMark): boolean {
  return a.headBytes === b.headBytes && a.headHash === b.headHash;
}

function toNs(timeMs: number | undefined): bigint | undefined {
  return timeMs === undefined ? undefined : BigInt(Math.trunc(timeMs) + 1) * 1_000_000n - 1n;
}
