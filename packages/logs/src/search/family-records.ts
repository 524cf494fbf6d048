import { CHECK_BYTES, encodeMark, fnv1a } from '../cursor/cursor.ts';
import type { RecordsJob } from '../scan/block/found-lines.ts';
import { type FoundLines, MAX_RESULT_BYTES, startAt, textOf } from '../scan/block/found-lines.ts';
import type { RecordsResult } from '../scan/jobs.ts';
import type { FoundRecord, RecordFilter } from '../types.ts';
import type { OpenFile } from './files/open-file.ts';
import { type FamilyTask, type FilePart, MAX_PART_BLOCKS } from './plan/file-parts.ts';
import { noteFailure, partFrom, runParts } from './plan/run-parts.ts';
import type { ResultRooms } from './result-rooms.ts';

export interface RecordsOptions {
  filter: RecordFilter;
  /** See `RecordsJob`. */
  asText?: boolean | undefined;
  raw: boolean;
  /** See `RecordsJob`. */
  onlyRaw?: boolean | undefined;
  /** See `RecordsJob`. */
  fields?: readonly string[] | undefined;
  shownBytes?: number;
  /** See `RecordsJob`. */
  restFrom?: number;
  /** Memory for results. */
  rooms?: ResultRooms | undefined;
  /** How many more records are wanted; called when a part begins. */
  wanted(): number;
}

/** What one step of a scan found, and how far it got. */
export interface FoundStep {
  found: FoundLines;
  /** Those of what was found. */
  times: FoundLines['times'];
  /** The file they are in; absent only if nothing was found. */
  opened: OpenFile | undefined;
  /** Cursor of the record the scan has reached, if beyond the last one found: continuing there omits nothing. */
  reached: string | undefined;
  /** Newest first: nothing that follows is newer. Oldest first: older. `NaN`: unknown. */
  boundMs: number;
  /** Index of the file in the family. */
  file: number;
  /** Newest first: all records at or after this offset have been scanned. Oldest first: all before it. */
  scannedTo: number | undefined;
}

/** The matching records of a family in order, step by step as they are found. */
export async function* familyRecords(
  task: FamilyTask,
  recordsOptions: RecordsOptions,
): AsyncGenerator<FoundStep, void, undefined> {
  const jobFor = (part: FilePart): RecordsJob => recordsJob(part, task, recordsOptions);
  const planned: FamilyTask = { ...task };
  for await (const { part, result } of runParts(planned, jobFor)) {
    planned.mostBlocks = task.mostBlocks ?? blocksPerPart(result);
    yield toStep(part, result, task);
    // A part that paused is continued by `runParts`.
    if (!result.stopped) continue;
    for (
      let rest = remainingPart(part, result, task.newestFirst);
      rest !== undefined && recordsOptions.wanted() > 0;
    ) {
      const scanned = rest;
      const next = await task.scanContext.pool
        .run(jobFor(scanned), task.flag)
        .catch((error: unknown) => noteFailure(task, scanned, error));
      if (!next) break;
      task.tally.add(part, next);
      yield toStep(part, next, task);
      rest = remainingPart(part, next, task.newestFirst);
    }
  }
}

/**
 * Blocks of the next parts if they find as much as this one: one that must stop because of its result is continued later,
 * while others are scanned at the same time.
 */
function blocksPerPart({ found, blocks }: RecordsResult): number {
  // Single records say nothing about blocks.
  if (blocks.length === 0) return MAX_PART_BLOCKS;
  const most = (GOOD_RESULT * MAX_RESULT_BYTES * blocks.length) / Math.max(1, found.text.length);
  return Math.max(1, Math.min(MAX_PART_BLOCKS, Math.floor(most)));
}

/** A part may have more records than those before. */
const GOOD_RESULT = 0.75;

function recordsJob(
  part: FilePart,
  { newestFirst }: FamilyTask,
  { filter, asText, raw, onlyRaw, fields, shownBytes, restFrom, rooms, wanted }: RecordsOptions,
): RecordsJob {
  const { file, runs, startBytes, endBytes, opened } = part;
  return {
    kind: 'records',
    file,
    runs,
    startBytes,
    endBytes,
    filter,
    newestFirst,
    asText,
    raw,
    onlyRaw,
    fields,
    shownBytes,
    restFrom,
    mark: opened.mark,
    limit: Math.max(1, wanted()),
    room: rooms?.take(),
  };
}

/** The rest of a part that stopped at the limit, or paused. */
function remainingPart(part: FilePart, result: RecordsResult, newestFirst: boolean): FilePart | undefined {
  const { found, stopped, pausedAt } = result;
  const last = found.offsets.at(-1);
  if (stopped && last !== undefined) return partFrom(part, newestFirst ? last : last + 1, newestFirst);
  return pausedAt === undefined ? undefined : partFrom(part, pausedAt, newestFirst);
}

function toStep(
  { number: file, opened }: FilePart,
  { found, reached, stopped }: RecordsResult,
  { newestFirst }: Pick<FamilyTask, 'newestFirst'>,
): FoundStep {
  // A part that stopped early ends with its last record.
  const last = stopped ? found.offsets.at(-1) : reached?.offset;
  const scannedTo = last === undefined || newestFirst ? last : last + 1;
  const { times } = found;
  const step = { found, times, opened, file, scannedTo };
  if (stopped) return { ...step, reached: undefined, boundMs: times.at(-1) ?? Number.NaN };
  return { ...step, reached: reached?.cursor, boundMs: reached?.timeMs ?? Number.NaN };
}

/** The line of a record, including its newline. */
export function lineAt(found: FoundLines, index: number): Buffer {
  return textOf(found, index, index + 1);
}

export function parseRecord(line: Buffer): FoundRecord {
  return JSON.parse(line.toString()) as FoundRecord;
}

/** The cursor of a record; that of a text is made only when it is needed, which it mostly is not. */
export function cursorAt({ found, opened }: Pick<FoundStep, 'found' | 'opened'>, index: number): string {
  if (!found.lengths || !opened) return parseRecord(lineAt(found, index)).cursor;
  const offset = found.offsets[index] ?? 0;
  return encodeMark({ ...opened.mark, file: opened.name, offset, ...checkAt(found, index) });
}

/** The check of the first bytes of a record as they were scanned: a hole was read as newlines. */
function checkAt(found: FoundLines, index: number): { check: number; checkBytes: number } {
  const checkBytes = Math.min(CHECK_BYTES, found.lengths?.[index] ?? 0);
  const bytes = Buffer.alloc(checkBytes, '\n');
  bytes.set(found.text.subarray(startAt(found, index), startAt(found, index + 1)).subarray(0, checkBytes));
  return { check: fnv1a(bytes, 0, checkBytes), checkBytes };
}
