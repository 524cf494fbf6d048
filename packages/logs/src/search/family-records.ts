import type { FoundLines, RecordsJob, RecordsResult } from '../scan/jobs.ts';
import type { FoundRecord, RecordFilter } from '../types.ts';
import type { FamilyTask, FilePart } from './plan/file-parts.ts';
import { noteFailure, partFrom, runParts } from './plan/run-parts.ts';

export interface RecordsOptions {
  filter: RecordFilter;
  raw: boolean;
  /** See `RecordsJob`. */
  fields?: readonly string[] | undefined;
  shownBytes?: number;
  /** See `RecordsJob`. */
  restFrom?: number;
  /** How many more records are wanted; called when a part begins. */
  wanted(): number;
}

/** What one step of a scan found, and how far it got. */
export interface FoundStep {
  found: FoundLines;
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
  for await (const { part, result } of runParts({ ...task, withPicks: true }, jobFor)) {
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

function recordsJob(
  part: FilePart,
  { newestFirst }: FamilyTask,
  { filter, raw, fields, shownBytes, restFrom, wanted }: RecordsOptions,
): RecordsJob {
  const { file, runs, picks, startBytes, endBytes, opened } = part;
  return {
    kind: 'records',
    file,
    runs,
    picks,
    startBytes,
    endBytes,
    filter,
    newestFirst,
    raw,
    fields,
    shownBytes,
    restFrom,
    mark: opened.mark,
    limit: Math.max(1, wanted()),
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
  { number: file }: FilePart,
  { found, reached, stopped }: RecordsResult,
  { newestFirst }: Pick<FamilyTask, 'newestFirst'>,
): FoundStep {
  // A part that stopped early ends with its last record.
  const last = stopped ? found.offsets.at(-1) : reached?.offset;
  const scannedTo = last === undefined || newestFirst ? last : last + 1;
  if (stopped) return { found, reached: undefined, boundMs: found.times.at(-1) ?? Number.NaN, file, scannedTo };
  return { found, reached: reached?.cursor, boundMs: reached?.timeMs ?? Number.NaN, file, scannedTo };
}

/** The line of a record, including its newline. */
export function lineAt({ text, ends }: FoundLines, index: number): Buffer {
  const start = index === 0 ? 0 : (ends[index - 1] ?? 0);
  return Buffer.from(text.buffer, text.byteOffset + start, (ends[index] ?? start) - start);
}

export function parseRecord(line: Buffer): FoundRecord {
  return JSON.parse(line.toString()) as FoundRecord;
}
