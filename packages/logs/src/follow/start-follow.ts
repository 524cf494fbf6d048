import { decodeCursor, encodeMark, type RecordMark } from '../cursor/cursor.ts';
import { groupFamilies } from '../file/families.ts';
import type { FollowItem, FollowQuery, FoundRecord } from '../types.ts';
import { type HistoryParts, inBatches, isGone, lastRecords, tellSince } from './history.ts';
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
  const placeIn = (reader: TailReader) => {
    const last = marks.findLast((mark) => isOf(reader, mark));
    return last && encodeMark(last);
  };
  const [only] = readers;
  if (only && readers.length === 1) {
    // Where no mark has a name of this log, the text may still be known: the file was renamed.
    const place = placeIn(only) ?? cursor;
    if (!only.moveBehind(place)) yield* tellSince(only, { cursor: place }, parts);
    return;
  }
  let newestMs: number | undefined;
  const unnamed: TailReader[] = [];
  for (const reader of readers) {
    const place = placeIn(reader);
    if (place === undefined) {
      unnamed.push(reader);
      continue;
    }
    newestMs = laterOf(newestMs, await timeOf(place, reader, parts));
    if (!reader.moveBehind(place)) yield* tellOrGap(reader, place, { ...parts, isOnly: marks.length === 1 });
  }
  // A log that the cursor does not name was quiet until then, or new: what it said since is told.
  const fromMs = newestMs === undefined ? sinceMs : Math.min(newestMs, sinceMs ?? newestMs);
  for (const reader of unnamed) if (fromMs !== undefined) yield* tellSince(reader, { timeMs: fromMs }, parts);
}

async function* tellOrGap(
  reader: TailReader,
  cursor: string,
  { isOnly, ...parts }: HistoryParts & { isOnly: boolean },
): AsyncGenerator<FollowItem[], void, undefined> {
  try {
    yield* tellSince(reader, { cursor }, parts);
  } catch (error) {
    if (isOnly || !isGone(error)) throw error;
    yield [{ type: 'gap', family: reader.tail.family, reason: 'gone', bytes: null, after: null, until: null }];
  }
}

function isOf({ tail }: TailReader, { file }: RecordMark): boolean {
  const { name, family } = tail.target;
  if (file === name) return true;
  return groupFamilies([file, tail.name]).some((found) => found.name === family && found.files.length === 2);
}

async function timeOf(cursor: string, reader: TailReader, parts: HistoryParts): Promise<number | undefined> {
  const query = { family: reader.tail.family, order: 'oldest', limit: 1, before: 0, after: 0 } as const;
  try {
    for await (const items of parts.search({ ...query, start: { record: cursor } }, { signal: parts.signal })) {
      for (const item of items) if (item.type === 'record') return item.timeMs;
    }
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  return undefined;
}

function laterOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
