import { decodeCursor, encodeMark, type RecordMark } from '../cursor/cursor.ts';
import { groupFamilies } from '../file/families.ts';
import type { FollowItem, FollowQuery, FoundRecord } from '../types.ts';
import { findRecord, goneGap, type HistoryParts, inBatches, isGone, lastRecords, tellSince } from './history.ts';
import { mergeStreams } from './merge-streams.ts';
import type { TailReader } from './tail-reader.ts';

/** What came before a follow's first live record, as its start says; moves each reader to where that ends. */
export async function* startFollow(
  start: FollowQuery['start'],
  readers: readonly TailReader[],
  parts: HistoryParts,
): AsyncGenerator<FollowItem[], void, undefined> {
  if (start === 'end') return;
  if ('back' in start) yield* tellLast(start.back, readers, parts);
  else if ('timeMs' in start) yield* sinceTime(start.timeMs, readers, parts);
  else yield* resume(start, readers, parts);
}

async function* tellLast(
  count: number,
  readers: readonly TailReader[],
  parts: HistoryParts,
): AsyncGenerator<FollowItem[], void, undefined> {
  let newest: FoundRecord[] = [];
  if (count === 0) return;
  for (const reader of readers) {
    newest.push(...(await lastRecords(reader, count, parts)));
    // Within one log the order is that of the file; between logs only time can tell.
    if (readers.length > 1) newest.sort((a, b) => (a.timeMs ?? 0) - (b.timeMs ?? 0));
    newest = newest.slice(-count);
  }
  yield* inBatches(newest);
}

/** A cursor of one log, or one that names a record in each of several; of several in one log the last one counts. */
async function* resume(
  { cursor, sinceMs }: { cursor: string; sinceMs?: number },
  readers: readonly TailReader[],
  parts: HistoryParts,
): AsyncGenerator<FollowItem[], void, undefined> {
  const marks = decodeCursor(cursor);
  const markIn = (reader: TailReader) => marks.findLast((mark) => isOf(reader, mark));
  // A single cursor that a user gave is refused where its record is gone; whoever resumes is told of a gap.
  const isStrict = marks.length === 1 && marks[0]?.delivered === undefined;
  const [only] = readers;
  if (only && readers.length === 1) {
    // Where no mark has a name of this log, the text may still be known: the file was renamed.
    const mark = markIn(only) ?? marks.at(-1);
    const place = markIn(only) ? encodeMark(mark as RecordMark) : cursor;
    if (!only.moveBehind(place)) yield* tellAfter(only, { place, mark, isStrict: isStrict || !mark?.delivered }, parts);
    return;
  }
  let newestMs: number | undefined;
  const unnamed: TailReader[] = [];
  const named: (() => AsyncGenerator<FollowItem[], void, undefined>)[] = [];
  for (const reader of readers) {
    const mark = markIn(reader);
    if (mark === undefined) {
      unnamed.push(reader);
      continue;
    }
    const place = encodeMark(mark);
    const timeMs = mark.delivered?.timeMs ?? (await findRecord(place, reader, parts)).timeMs;
    newestMs = laterOf(newestMs, timeMs);
    if (!reader.moveBehind(place)) named.push(() => tellAfter(reader, { place, mark, isStrict }, parts));
  }
  yield* mergeStreams(named, parts.permits);
  // A log that the cursor does not name was quiet until then, or new: what it said since is told.
  const fromMs = newestMs === undefined ? sinceMs : Math.min(newestMs, sinceMs ?? newestMs);
  if (fromMs !== undefined) yield* sinceTime(fromMs, unnamed, parts);
}

/** Several logs at a time: the sooner a history is read, the less of it can be removed before. */
function sinceTime(
  timeMs: number,
  readers: readonly TailReader[],
  parts: HistoryParts,
): AsyncGenerator<FollowItem[], void, undefined> {
  const histories = readers.map((reader) => () => tellSince(reader, { timeMs }, parts));
  return mergeStreams(histories, parts.permits);
}

interface After {
  place: string;
  mark: RecordMark | undefined;
  /** Throws where the record is gone. */
  isStrict: boolean;
}

/** What comes behind a record. Where it is gone, that is reported first, and then whatever is left that is not older. */
async function* tellAfter(
  reader: TailReader,
  { place, mark, isStrict }: After,
  parts: HistoryParts,
): AsyncGenerator<FollowItem[], void, undefined> {
  if (mark?.delivered) reader.told.note({ cursor: place, offset: mark.offset, bytes: mark.delivered.bytes });
  try {
    yield* tellSince(reader, { cursor: place }, parts);
  } catch (error) {
    if (isStrict || !isGone(error)) throw error;
    yield [goneGap(reader)];
  }
}

function isOf({ tail }: TailReader, { file }: RecordMark): boolean {
  const { name, family } = tail.target;
  if (file === name) return true;
  return groupFamilies([file, tail.name]).some((found) => found.name === family && found.files.length === 2);
}

function laterOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
