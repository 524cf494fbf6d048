import { decodeCursor, encodeMark, type RecordMark } from '../cursor/cursor.ts';
import { groupFamilies } from '../file/families.ts';
import type { FollowItem, FollowQuery, FoundRecord } from '../types.ts';
import { goneGap, type HistoryParts, inBatches, isGone, isMissing, lastRecords, tellSince } from './history.ts';
import type { TailReader } from './tail-reader.ts';

/** What came before a follow's first live record, as its start says; moves each reader to where that ends. */
export async function* startFollow(
  start: FollowQuery['start'],
  readers: readonly TailReader[],
  parts: HistoryParts,
): AsyncGenerator<FollowItem[], void, undefined> {
  if (start === 'end') return;
  if ('back' in start) yield* tellLast(start.back, readers, parts);
  else if ('timeMs' in start) for (const reader of readers) yield* tellSince(reader, start, parts);
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
  for (const reader of readers) {
    const mark = markIn(reader);
    if (mark === undefined) {
      unnamed.push(reader);
      continue;
    }
    const place = encodeMark(mark);
    const timeMs = mark.delivered?.timeMs ?? (await find(place, reader, parts)).timeMs;
    newestMs = laterOf(newestMs, timeMs);
    if (!reader.moveBehind(place)) yield* tellAfter(reader, { place, mark, isStrict }, parts);
  }
  // A log that the cursor does not name was quiet until then, or new: what it said since is told.
  const fromMs = newestMs === undefined ? sinceMs : Math.min(newestMs, sinceMs ?? newestMs);
  for (const reader of unnamed) if (fromMs !== undefined) yield* tellSince(reader, { timeMs: fromMs }, parts);
}

interface After {
  place: string;
  mark: RecordMark | undefined;
  /** Throws where the record is gone. */
  isStrict: boolean;
}

/** Where the record is gone, that is reported first, and then whatever is left that is not older. */
async function* tellAfter(
  reader: TailReader,
  { place, mark, isStrict }: After,
  parts: HistoryParts,
): AsyncGenerator<FollowItem[], void, undefined> {
  if (!isStrict && (await find(place, reader, parts)).isGone) {
    yield [goneGap(reader)];
    const timeMs = mark?.delivered?.timeMs;
    if (timeMs !== undefined) yield* tellSince(reader, { timeMs }, parts);
    return;
  }
  yield* tellSince(reader, { cursor: place }, parts);
}

function isOf({ tail }: TailReader, { file }: RecordMark): boolean {
  const { name, family } = tail.target;
  if (file === name) return true;
  return groupFamilies([file, tail.name]).some((found) => found.name === family && found.files.length === 2);
}

/** Whether the record of a cursor is still in the files, and its time. */
async function find(
  cursor: string,
  { tail }: TailReader,
  { search, signal }: HistoryParts,
): Promise<{ isGone: boolean; timeMs?: number | undefined }> {
  const { name, family } = tail.target;
  const selection = family === undefined ? { file: name } : { family };
  const query = { ...selection, order: 'oldest', limit: 1, before: 0, after: 0, start: { record: cursor } } as const;
  try {
    for await (const items of search(query, { signal })) {
      for (const item of items) if (item.type === 'record') return { isGone: false, timeMs: item.timeMs };
    }
    return { isGone: false };
  } catch (error) {
    if (!isGone(error) && !isMissing(error)) throw error;
    return { isGone: true };
  }
}

function laterOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
