import { decodePosition, encodeMark, type RecordMark } from '../../cursor/cursor.ts';
import { groupFamilies } from '../../file/families.ts';
import type { FollowItem, FollowQuery, FoundRecord } from '../../types.ts';
import type { TailTarget } from '../tail/family-files.ts';
import type { TailReader } from '../tail/tail-reader.ts';
import { emitSince, familyGap, findRecord, goneGap, inBatches, isGone, lastRecords, reportOnce } from './history.ts';
import { type HistoryDeps, mergeStreams } from './search-history.ts';

/** Records of a log without timestamps to begin with, where others begin at a time. */
const UNTIMED_BACK = 1000;

interface Readers {
  timed: readonly TailReader[];
  /** Their records are not at any time: they continue after a record of theirs, or begin with the last ones. */
  untimed: readonly TailReader[];
  /** In a follow of all logs: those that can be continued, with the ones that are left out because there are too many. */
  present?: readonly TailTarget[] | undefined;
}

/** Emits what a follow's `start` selects before its first live record, and moves each reader to the end of that. */
export async function* startFollow(
  start: FollowQuery['start'],
  { timed, untimed, present }: Readers,
  deps: HistoryDeps,
): AsyncGenerator<FollowItem[], void, undefined> {
  if (start === 'end') return;
  const { marks, isWhole } = 'cursor' in start ? decodePosition(start.cursor) : { marks: [], isWhole: false };
  if (present) {
    // A lone log without a mark may be the one of the last mark under another name: its history finds that out.
    const [only] = timed;
    const isRenamed = only && timed.length === 1 && !isWhole && !marks.some((mark) => isInLog(only, mark));
    const gaps = lostLogs(isRenamed ? marks.slice(0, -1) : marks, present, deps).map(familyGap);
    if (gaps.length > 0) yield gaps;
  }
  for (const reader of untimed) {
    const mark = marks.findLast((each) => isInLog(reader, each));
    yield* startReaders(mark ? { cursor: encodeMark(mark) } : { back: UNTIMED_BACK }, [reader], deps);
  }
  yield* startReaders(start, timed, deps);
}

async function* startReaders(
  start: Exclude<FollowQuery['start'], 'end'>,
  readers: readonly TailReader[],
  deps: HistoryDeps,
): AsyncGenerator<FollowItem[], void, undefined> {
  if ('back' in start) yield* emitLast(start.back, readers, deps);
  else if ('timeMs' in start) yield* emitSinceTime(start.timeMs, readers, deps);
  else yield* resume(start, readers, deps);
}

async function* emitLast(
  count: number,
  readers: readonly TailReader[],
  deps: HistoryDeps,
): AsyncGenerator<FollowItem[], void, undefined> {
  let newest: FoundRecord[] = [];
  if (count === 0) return;
  for (const reader of readers) {
    newest.push(...(await lastRecords(reader, count, deps)));
    // Within one log the order is that of the file; between logs it is by time.
    if (readers.length > 1) newest.sort((a, b) => (a.timeMs ?? 0) - (b.timeMs ?? 0));
    newest = newest.slice(-count);
  }
  yield* inBatches(newest);
}

/**
 * The cursor names a record of one log or of each of several; of several records of one log the last one counts. If it
 * is whole, the logs that it does not name are new.
 */
async function* resume(
  { cursor, sinceMs }: { cursor: string; sinceMs?: number },
  readers: readonly TailReader[],
  deps: HistoryDeps,
): AsyncGenerator<FollowItem[], void, undefined> {
  const { marks, isWhole } = decodePosition(cursor);
  const markIn = (reader: TailReader) => marks.findLast((mark) => isInLog(reader, mark));
  // A single cursor given by a user fails if its record was deleted; a follow that resumes gets a gap.
  const isStrict = !isWhole && marks.length === 1 && marks[0]?.delivered === undefined;
  const [only] = readers;
  if (only && readers.length === 1 && !isWhole) {
    // If no mark names a file of this log, the file may have been renamed: its content may still match.
    const mark = markIn(only) ?? marks.at(-1);
    const resumePoint = markIn(only) ? encodeMark(mark as RecordMark) : cursor;
    if (!(await only.moveAfter(resumePoint)))
      yield* reportOnce(emitAfter(only, { resumePoint, mark, isStrict: isStrict || !mark?.delivered, sinceMs }, deps));
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
    const resumePoint = encodeMark(mark);
    if (!isWhole) {
      const timeMs = mark.delivered?.timeMs ?? (await findRecord(resumePoint, reader, deps)).timeMs;
      newestMs = laterTime(newestMs, timeMs);
    }
    if (!(await reader.moveAfter(resumePoint)))
      named.push(() => reportOnce(emitAfter(reader, { resumePoint, mark, isStrict, sinceMs }, deps)));
  }
  yield* mergeStreams(named, deps.permits);
  const fromStart = unnamed.map((reader) => () => emitSince(reader, undefined, deps));
  if (isWhole) return yield* mergeStreams(fromStart, deps.permits);
  // A log that the cursor does not name was quiet until then, or is new: emit what it wrote since.
  const fromMs = newestMs === undefined ? sinceMs : Math.min(newestMs, sinceMs ?? newestMs);
  if (fromMs !== undefined) yield* emitSinceTime(fromMs, unnamed, deps);
}

/** Several logs in parallel: the sooner a history is read, the less of it is deleted before. */
function emitSinceTime(
  timeMs: number,
  readers: readonly TailReader[],
  deps: HistoryDeps,
): AsyncGenerator<FollowItem[], void, undefined> {
  const histories = readers.map((reader) => () => emitSince(reader, { timeMs }, deps));
  return mergeStreams(histories, deps.permits);
}

interface ResumeOptions {
  resumePoint: string;
  mark: RecordMark | undefined;
  /** Throws if the record was deleted. */
  isStrict: boolean;
  /** When the follow began. */
  sinceMs: number | undefined;
}

/** Emits what follows a record. If the record was deleted, a gap comes first, then whatever is left that is not older. */
async function* emitAfter(
  reader: TailReader,
  { resumePoint, mark, isStrict, sinceMs }: ResumeOptions,
  deps: HistoryDeps,
): AsyncGenerator<FollowItem[], void, undefined> {
  if (mark?.delivered) reader.delivered.note({ cursor: resumePoint, offset: mark.offset, bytes: mark.delivered.bytes });
  try {
    yield* emitSince(reader, { cursor: resumePoint }, deps);
  } catch (error) {
    if (isStrict || !isGone(error)) throw error;
    yield [goneGap(reader)];
    // Nothing says when it was written: rather a record twice than one lost.
    if (sinceMs !== undefined) yield* emitSince(reader, { timeMs: sinceMs }, deps);
  }
}

/** Logs that were followed, of which no file is left: when one is there again, it is a new log. */
function lostLogs(marks: readonly RecordMark[], present: readonly TailTarget[], { onlyRaw }: HistoryDeps): string[] {
  const names = new Set(present.map(({ name }) => name));
  const absent = new Set<string>();
  for (const { file, delivered } of marks) {
    // One that was never part of the follow, because its lines have no time, is not missed. A record alone was delivered.
    const tookPart = delivered === undefined || onlyRaw || delivered.timeMs !== undefined;
    if (tookPart && !names.has(file)) absent.add(file);
  }
  if (absent.size === 0) return [];
  const families = groupFamilies([...names, ...absent]);
  return families.filter(({ files }) => !files.some(({ name }) => names.has(name))).map(({ name }) => name);
}

function isInLog({ tail }: TailReader, { file }: RecordMark): boolean {
  const { name, family } = tail.target;
  if (file === name) return true;
  return groupFamilies([file, tail.name]).some((found) => found.name === family && found.files.length === 2);
}

function laterTime(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
