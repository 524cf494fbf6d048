import { blockOf } from '../scan/blocks.ts';
import type { FoundLines, RecordsJob, RecordsResult } from '../scan/jobs.ts';
import type { FoundRecord, RecordFilter } from '../types.ts';
import type { FamilyTask, FilePart } from './file-parts.ts';
import { noteProblem } from './open-family.ts';
import { runParts } from './run-parts.ts';

export interface RecordsWish {
  filter: RecordFilter;
  raw: boolean;
  shownBytes?: number;
  /** See `RecordsJob`. */
  restFrom?: number;
  /** How many more are wanted; asked when a part begins. */
  wanted(): number;
}

/** What one step of a scan found, and how far it got. */
export interface FoundStep {
  found: FoundLines;
  /** Cursor of the record the scan has come to, if beyond the last one found: going on there leaves nothing out. */
  reached: string | undefined;
  /** Newest first: nothing that is still to come is newer. Oldest first: older. `NaN`: cannot be told. */
  boundMs: number;
  /** Number of the file in the family. */
  file: number;
  /** Newest first: all records at or behind this offset have been scanned. Oldest first: all before it. */
  scannedTo: number | undefined;
}

/** The matching records of a family in order, step by step as they are found. */
export async function* familyRecords(task: FamilyTask, wish: RecordsWish): AsyncGenerator<FoundStep, void, undefined> {
  const jobFor = (part: FilePart): RecordsJob => recordsJob(part, task, wish);
  for await (const { part, result } of runParts({ ...task, withPicks: true }, jobFor)) {
    yield stepOf(part, result, task);
    for (let last = result; last.stopped && wish.wanted() > 0; ) {
      const rest = restOf(part, last, task.newestFirst);
      const next = await task.shop.pool.run(recordsJob(rest, task, wish), task.flag).catch((error: unknown) => {
        if (task.flag.isSet) return undefined;
        return noteProblem(task.family.problems, part.opened.name, error);
      });
      if (!next) break;
      last = next;
      task.tally.add(part, last);
      yield stepOf(part, last, task);
    }
  }
}

function recordsJob(
  part: FilePart,
  { newestFirst }: FamilyTask,
  { filter, raw, shownBytes, restFrom, wanted }: RecordsWish,
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
    shownBytes,
    restFrom,
    mark: opened.mark,
    limit: Math.max(1, wanted()),
  };
}

/** What is left of a part that stopped at its last record. */
function restOf(part: FilePart, { found }: RecordsResult, newestFirst: boolean): FilePart {
  const offset = found.offsets.at(-1) ?? (newestFirst ? 0 : Number.MAX_SAFE_INTEGER);
  const block = blockOf(offset);
  const runs: number[] = [];
  for (let pair = 0; pair + 1 < part.runs.length; pair += 2) {
    const [first = 0, end = 0] = [part.runs[pair], part.runs[pair + 1]];
    const [from, to] = newestFirst ? [first, Math.min(end, block + 1)] : [Math.max(first, block), end];
    if (from < to) runs.push(from, to);
  }
  const picks = part.picks.filter((pick) => (newestFirst ? pick < offset : pick > offset));
  return newestFirst ? { ...part, runs, picks, endBytes: offset } : { ...part, runs, picks, startBytes: offset + 1 };
}

function stepOf(
  { number: file }: FilePart,
  { found, reached, stopped }: RecordsResult,
  { newestFirst }: Pick<FamilyTask, 'newestFirst'>,
): FoundStep {
  // A part that stopped early has come no further than its last record.
  const last = stopped ? found.offsets.at(-1) : reached?.offset;
  const scannedTo = last === undefined || newestFirst ? last : last + 1;
  if (stopped) return { found, reached: undefined, boundMs: found.times.at(-1) ?? Number.NaN, file, scannedTo };
  return { found, reached: reached?.cursor, boundMs: reached?.timeMs ?? Number.NaN, file, scannedTo };
}

/** The line of a record, its newline included. */
export function lineOf({ text, ends }: FoundLines, index: number): Buffer {
  const start = index === 0 ? 0 : (ends[index - 1] ?? 0);
  return Buffer.from(text.buffer, text.byteOffset + start, (ends[index] ?? start) - start);
}

export function recordOf(line: Buffer): FoundRecord {
  return JSON.parse(line.toString()) as FoundRecord;
}
