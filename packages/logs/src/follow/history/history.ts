import { decodeCursor, resumeCursor } from '../../cursor/cursor.ts';
import { LogError } from '../../log-error.ts';
import type { FollowItem, FoundRecord, SearchQuery, StartPoint } from '../../types.ts';
import type { RecordRing } from '../ring/record-ring.ts';
import { currentJunction, type TailReader } from '../tail-reader.ts';
import { type HistoryDeps, queryFor, searchAll, searchExisting } from './search-history.ts';
import { TextChanges } from './text-changes.ts';

/** Records of a batch when they are emitted from memory. */
const BATCH_RECORDS = 1000;

/** Rounds of one history whose end may be deleted before it is reached; then the follow continues with the newest records. */
const MAX_ROUNDS = 10;

/**
 * Emits everything from `start` (or from the beginning) up to the reader's position in the ring. If the ring moves past
 * that position while a long history is emitted, another round of history follows, until the ring can take over.
 */
export async function* emitSince(
  reader: TailReader,
  start: StartPoint | undefined,
  deps: HistoryDeps,
): AsyncGenerator<FollowItem[], void, undefined> {
  const { ring } = reader.tail;
  const changes = new TextChanges(reader.tail, start && 'cursor' in start ? start.cursor : undefined);
  let from = start;
  let last: string | undefined;
  let limits: HistoryEnd | undefined;
  for (let round = 0; !deps.signal.aborted; round++) {
    const isHeld = (round < 2 || limits !== undefined) && reader.joined.seq >= ring.firstSeq;
    const { seq, until, unread } = isHeld ? reader.joined : currentJunction(reader.tail);
    try {
      for await (const { records, isGone: isPartGone } of searchAll(reader, { from, ...(limits ?? { until }) }, deps)) {
        if (isPartGone) yield [goneGap(reader, last)];
        // One by one: a file that is being copied may be found twice in one part.
        const fresh = records.filter((record) => record.file !== unread && reader.delivered.add(record));
        const newest = fresh.at(-1);
        if (newest) last = resumeCursor(newest);
        yield* changes.pass(fresh);
      }
      // The position at which the ring continues is no longer on disk.
      if (limits?.toMs !== undefined) yield [goneGap(reader, last)];
    } catch (error) {
      if (!isGone(error)) throw error;
      // One end of this range may have been renamed or truncated during the search: try once more.
      if (last === undefined && round === 0) continue;
      if (last !== undefined) from = { cursor: last };
      const lost = await findLost(from, reader, deps);
      if (lost && last === undefined && isStrict(start)) throw error;
      if (lost && round < MAX_ROUNDS) {
        // The record before the gap was deleted: report that first, then emit whatever is left that is not older.
        yield [goneGap(reader, last)];
        changes.forget();
        from = lost.timeMs === undefined ? undefined : { timeMs: lost.timeMs };
        last = undefined;
        if (from) continue;
      } else if ((last !== undefined || !isHeld) && round < MAX_ROUNDS) {
        // The end of the range may be renamed at this moment, or the reader has not noticed yet that it was deleted.
        await reader.tail.catchUp();
        continue;
      } else if (last === undefined && isHeld && !limits) {
        // What is missing was before the ring's first record, or among what is left of the files.
        yield [goneGap(reader, last)];
        if (firstTimeFrom(ring, seq) === undefined) await reader.tail.catchUp();
        // If the ring has nothing, the end is that of the files; what the ring gets of them, too, is deduplicated.
        const toMs = firstTimeFrom(ring, seq);
        limits = toMs === undefined ? {} : { toMs };
        continue;
      } else {
        if (last === undefined && isStrict(start)) throw error;
        yield [goneGap(reader, last)];
      }
    }
    reader.moveTo(seq, last);
    if (seq >= ring.firstSeq) return yield* changes.passEnd(until);
    // If the end of the range was deleted, nothing from there on was emitted. After a record, its time is known as well.
    if (last !== undefined) from = { cursor: last };
    else if (until !== undefined && !limits) from = { record: until };
    limits = undefined;
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
  return {
    timeMs: decodeCursor(cursor).findLast(({ delivered }) => delivered?.timeMs !== undefined)?.delivered?.timeMs,
  };
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
function isStrict(start: StartPoint | undefined): boolean {
  if (!start || 'timeMs' in start) return false;
  return !('cursor' in start) || decodeCursor(start.cursor).every(({ delivered }) => delivered === undefined);
}

/** Just after the first timestamp among the entries from `seq` on; records with that very time are deduplicated. */
function firstTimeFrom(ring: RecordRing, seq: number): number | undefined {
  for (let at = seq; at < ring.nextSeq; at++) {
    const entry = ring.at(at);
    if (entry?.kind === 'record' && !Number.isNaN(entry.piece.head.timeMs)) return entry.piece.head.timeMs + 1;
  }
  return undefined;
}

/** Where a range of the history ends: at a record, or before a time. */
type HistoryEnd = Pick<SearchQuery, 'until' | 'toMs'>;

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
  const seq = tail.ring.nextSeq;
  const unemitted = tail.current?.text.isUnemitted ? tail.name : undefined;
  const found = await newestBefore(reader, { cursor: tail.positionCursor, count }, deps).catch((error: unknown) => {
    // The live file was deleted: emit what is left of the log. What the ring also holds is deduplicated.
    if (!isGone(error)) throw error;
    return newestBefore(reader, { cursor: undefined, count }, deps);
  });
  const records = found.filter(({ file }) => file !== unemitted).reverse();
  for (const record of records) reader.delivered.note(record);
  reader.moveTo(seq);
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
