import { setTimeout as delay } from 'node:timers/promises';
import { decodeCursor, encodeMark, resumeCursor, START_CURSOR } from '../../cursor/cursor.ts';
import { LogError } from '../../log-error.ts';
import type {
  FollowItem,
  FoundRecord,
  LogSelection,
  RecordFilter,
  SearchItem,
  SearchQuery,
  StartPoint,
} from '../../types.ts';
import type { RecordRing } from '../ring/record-ring.ts';
import { currentJunction, type TailReader } from '../tail-reader.ts';
import type { Permits } from './merge-streams.ts';
import { TextChanges } from './text-changes.ts';

/** Records of one search; then it goes on with the next. Only so that a search has an end. */
const HISTORY_LIMIT = 100_000;

/** Records of a batch when they are given from memory. */
const BATCH_RECORDS = 1000;

/** Searches of one history that find a file truncated while they read it; beyond it something is wrong with the file. */
const MAX_TRUNCATIONS = 5;

/** Stretches of one history whose end is gone before it is found; then the follow continues with the newest. */
const MAX_ROUNDS = 10;

/** Waits between attempts to search while too many searches are under way. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1000;

const MISSING: ReadonlySet<string> = new Set(['LOG_FAMILY_NOT_FOUND', 'LOG_FILE_NOT_FOUND']);

export type Search = (query: SearchQuery, options: { signal?: AbortSignal }) => AsyncGenerator<SearchItem[]>;

export interface HistoryDeps {
  search: Search;
  filter: RecordFilter;
  raw: boolean;
  signal: AbortSignal;
  /** For histories of several logs at once, beside the first. */
  permits: Permits;
}

/**
 * Everything from `start` on (or from the beginning) until the reader's place in the ring. The ring moves on while a
 * long history is told: then more history follows, until the place it ends at is still in the ring.
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
  let isEndGone = false;
  for (let round = 0; !deps.signal.aborted; round++) {
    const isHeld = (round < 2 || limits !== undefined) && reader.joined.seq >= ring.firstSeq;
    const { seq, until, unread } = isHeld ? reader.joined : currentJunction(reader.tail);
    try {
      for await (const { records, isGone: isPartGone } of searchAll(reader, { from, ...(limits ?? { until }) }, deps)) {
        if (isPartGone) yield [goneGap(reader, last)];
        const fresh = records.filter((record) => record.file !== unread && !reader.delivered.has(record));
        for (const record of fresh) reader.delivered.note(record);
        const newest = fresh.at(-1);
        if (newest) last = resumeCursor(newest);
        yield* changes.pass(fresh);
      }
      // The position the ring continues at is on no disk any more.
      if (limits) yield [goneGap(reader, last)];
    } catch (error) {
      if (!isGone(error)) throw error;
      // One end of this stretch may have been renamed or cut away while it was looked for: once more.
      if (last === undefined && round === 0) continue;
      if (last !== undefined) from = { cursor: last };
      const lost = await findLost(from, reader, deps);
      if (lost && last === undefined && isStrict(start)) throw error;
      if (lost && round < MAX_ROUNDS) {
        // The record before the gap is gone: that is reported first, and then whatever is left that is not older.
        yield [goneGap(reader, last)];
        changes.forget();
        from = lost.timeMs === undefined ? undefined : { timeMs: lost.timeMs };
        last = undefined;
        if (from) continue;
      } else if (last !== undefined && round < MAX_ROUNDS) {
        continue;
      } else {
        const toMs = last === undefined && isHeld && !limits ? firstTimeFrom(ring, seq) : undefined;
        if (toMs !== undefined) {
          limits = { toMs };
          continue;
        }
        if (last === undefined && isStrict(start)) throw error;
        yield [goneGap(reader, last)];
        if (last === undefined && isHeld && !limits) isEndGone = true;
      }
    }
    reader.moveTo(seq, last);
    if (seq >= ring.firstSeq) return yield* changes.passEnd(until);
    // Where the end of the stretch is gone, nothing was emitted from there on. Behind a record it is known by its time, too.
    if (last !== undefined) from = { cursor: last };
    else if (until !== undefined && !limits && !isEndGone) from = { record: until };
    limits = undefined;
    isEndGone = false;
  }
}

/** Where the record at which a stretch begins is gone: when that was, if it is known. */
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

/** Whether the record of a cursor is still in the files, and its time. */
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

/**
 * Without the time of its record: a search that does not find the record would continue by that time, and report what is
 * gone only at its end.
 */
function toExactStart(start: StartPoint | undefined): StartPoint | undefined {
  if (!start || !('cursor' in start) || start.cursor === START_CURSOR) return start;
  const marks = decodeCursor(start.cursor).map(({ delivered, ...mark }) =>
    encodeMark({ ...mark, ...(delivered && { delivered: { bytes: delivered.bytes, timeMs: undefined } }) }),
  );
  return { ...start, cursor: marks.join('~') };
}

/** Whoever gave a cursor must hear that its record is gone; whoever resumes gets a gap. */
function isStrict(start: StartPoint | undefined): boolean {
  if (!start || 'timeMs' in start) return false;
  return !('cursor' in start) || decodeCursor(start.cursor).every(({ delivered }) => delivered === undefined);
}

/** Behind the first timestamp among the entries from this one on: records of the same time are recognised. */
function firstTimeFrom(ring: RecordRing, seq: number): number | undefined {
  for (let at = seq; at < ring.nextSeq; at++) {
    const entry = ring.at(at);
    if (entry?.kind === 'record' && !Number.isNaN(entry.piece.head.timeMs)) return entry.piece.head.timeMs + 1;
  }
  return undefined;
}

/** Where a stretch of the history ends: at a record, or before a time. */
type HistoryEnd = Pick<SearchQuery, 'until' | 'toMs'>;

/** How much is missing is not known, and there is nowhere left to load it from. */
export function goneGap({ tail }: TailReader, after: string | null = null): FollowItem {
  return { type: 'gap', family: tail.family, reason: 'gone', bytes: null, after, until: null };
}

export function isGone(thrown: unknown): boolean {
  return thrown instanceof LogError && thrown.code === 'CURSOR_GONE';
}

/** All files of the log are gone at the moment. */
function isMissing(thrown: unknown): boolean {
  return thrown instanceof LogError && MISSING.has(thrown.code);
}

/** The newest `count` records before the reader's place, oldest first. */
export async function lastRecords(reader: TailReader, count: number, deps: HistoryDeps): Promise<FoundRecord[]> {
  const { tail } = reader;
  const seq = tail.ring.nextSeq;
  const unemitted = tail.current?.text.isUnemitted ? tail.name : undefined;
  const found = await newestBefore(reader, { cursor: tail.positionCursor, count }, deps).catch((error: unknown) => {
    // The live file was deleted: what is left of the log is told, and what the ring has of that is known by then.
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

/** Some records in order; or that what was to come before them is gone. */
interface HistoryPart {
  records: FoundRecord[];
  isGone: boolean;
}

/** Goes on where a search stopped before it was done. */
async function* searchAll(
  reader: TailReader,
  { from, until, toMs }: { from: StartPoint | undefined; until?: string | undefined; toMs?: number | undefined },
  deps: HistoryDeps,
): AsyncGenerator<HistoryPart, void, undefined> {
  let start = from;
  let last: string | undefined;
  let truncations = 0;
  for (let done = false; !done && !deps.signal.aborted; ) {
    done = true;
    const end = { ...(until !== undefined && { until }), ...(toMs !== undefined && { toMs }) };
    const exact = toExactStart(start);
    const range = { ...(exact && { start: exact }), ...end };
    const query = queryFor(reader, deps, { order: 'oldest', limit: HISTORY_LIMIT, ...range });
    for await (const items of searchExisting(query, deps)) {
      const records = items.filter((item) => item.type === 'record');
      const end = items.find((item) => item.type === 'end');
      const newest = records.at(-1);
      if (newest) last = resumeCursor(newest);
      const hasProblem = (wanted: string) => end?.problems.some(({ code }) => code === wanted) ?? false;
      // A file was truncated while it was read: what it held stands in a copy, which the next search finds.
      const isTruncated = hasProblem('LOG_FILE_TRUNCATED') && ++truncations <= MAX_TRUNCATIONS;
      const isPartGone = hasProblem('CURSOR_GONE') || (hasProblem('LOG_FILE_TRUNCATED') && !isTruncated);
      if (records.length > 0 || isPartGone) yield { records, isGone: isPartGone };
      if (isTruncated) {
        if (last !== undefined) start = { cursor: last };
        done = false;
        continue;
      }
      if (!end?.cursor || end.reason === 'exhausted' || end.reason === 'cancelled') continue;
      start = { cursor: end.cursor };
      done = false;
    }
  }
}

/** A log whose files are all gone for the moment has no history. A search that finds no room is tried again. */
async function* searchExisting(query: SearchQuery, deps: HistoryDeps): AsyncGenerator<SearchItem[]> {
  const { search, signal } = deps;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      return yield* search(query, { signal });
    } catch (error) {
      if (!isBusy(error) || signal.aborted) {
        if (!isMissing(error)) throw error;
        if (!query.start || 'timeMs' in query.start) return;
        throw new LogError('CURSOR_GONE', 'the files that the cursor points into are gone', { cause: error });
      }
    }
    await delay(waitMs, undefined, { signal });
  }
}

/** As many searches are under way as may be: thrown before anything was given. */
function isBusy(thrown: unknown): boolean {
  return thrown instanceof LogError && thrown.code === 'TOO_MANY_SEARCHES';
}

function queryFor(
  { tail }: TailReader,
  { filter, raw }: HistoryDeps,
  range: Pick<SearchQuery, 'order' | 'limit' | 'start' | 'until' | 'toMs'>,
): SearchQuery {
  const { name, family } = tail.target;
  // With a family: what was told under this name stands in rotated files by now.
  const selection: LogSelection = family === undefined ? { file: name } : { family };
  return { ...selection, ...filter, ...range, before: 0, after: 0, ...(raw && { raw }) };
}
