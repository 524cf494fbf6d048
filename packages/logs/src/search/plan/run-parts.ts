import { LogError } from '../../log-error.ts';
import { BLOCK_BYTES, blockAt } from '../../scan/block/blocks.ts';
import type { ScanReport } from '../../scan/block/scan-file.ts';
import type { Job, JobResults } from '../../scan/jobs.ts';
import { awaitedLater, unneeded } from '../../shared.ts';
import { noteHole, noteProblem } from '../files/open-family.ts';
import { type FamilyProgress, type FamilyTask, type FilePart, fileParts } from './file-parts.ts';

export interface PartOutcome<K extends Job['kind']> {
  part: FilePart;
  result: JobResults[K];
}

type ReportingJob = Extract<Job, { runs: readonly number[] }>;

/**
 * Scans the parts of a family in several threads at once and yields the results in scan order. A file that fails is
 * recorded and the others continue. When cancelled, it ends only after all threads have released the files.
 */
export async function* runParts<J extends ReportingJob>(
  task: FamilyTask,
  jobFor: (part: FilePart) => J,
): AsyncGenerator<PartOutcome<J['kind']>, void, undefined> {
  const { scanContext, flag, tally, progress, newestFirst, ahead = scanContext.pool.width } = task;
  const parts = fileParts(task);
  const running: { part: FilePart; result: Promise<JobResults[J['kind']]> }[] = [];
  let more = true;
  // Scanning ahead pays off only if the first part was not enough.
  let depth = 0;
  let filling: Promise<void> | undefined; // kept: belongs to one scan, and is awaited or handled in the turn it is made
  /** One more than there are threads: the next job is ready when one of them becomes free. */
  const fill = async () => {
    while (more && running.length <= depth) {
      const next = await parts.next();
      more = !next.done;
      if (next.done) return;
      const result = awaitedLater(scanContext.pool.run(jobFor(next.value), flag));
      running.push({ part: next.value, result });
    }
  };
  const keepFilling = () => {
    filling ??= fill().finally(() => {
      filling = undefined;
    });
    return filling;
  };
  try {
    while (!flag.isSet) {
      // Preparing the next file may take long: results found meanwhile must not wait for it.
      const ready = awaitedLater(keepFilling());
      if (running.length === 0) await ready;
      const first = running.shift();
      if (!first && more) continue;
      if (!first) {
        // Parts end early if the scan was stopped.
        if (progress && !flag.isSet) progress.isComplete = true;
        return;
      }
      let { part, result: scanning } = first;
      for (;;) {
        const result = await scanning.catch((error: unknown) => noteFailure(task, part, error));
        if (result === undefined) break;
        const report = result as ScanReport;
        tally.add(part, report);
        remember(task, part, report);
        if (progress) noteProgress(progress, part, report);
        yield { part, result };
        depth = ahead;
        if (report.pausedAt === undefined) break;
        part = partFrom(part, report.pausedAt, newestFirst);
        scanning = scanContext.pool.run(jobFor(part), flag);
      }
    }
  } finally {
    flag.set();
    await unneeded(filling); // the loop has thrown the same error, or its consumer has stopped
    await parts.return();
    await Promise.allSettled(running.map(({ result }) => result));
    scanContext.indexes.trim();
  }
}

/** Records a file that cannot be scanned, or a regex that had to be terminated. Cancellation is not recorded. */
export function noteFailure({ flag, family }: FamilyTask, { opened }: FilePart, error: unknown): undefined {
  const isTooComplex = error instanceof LogError && error.code === 'REGEX_TOO_COMPLEX';
  if (flag.isSet && !isTooComplex) return;
  noteProblem(family.problems, opened.name, error);
}

/** The rest of a part whose scan paused at `offset`. */
export function partFrom(part: FilePart, offset: number, newestFirst: boolean): FilePart {
  const block = blockAt(newestFirst ? Math.max(0, offset - 1) : offset);
  const runs: number[] = [];
  for (let pair = 0; pair + 1 < part.runs.length; pair += 2) {
    const [first = 0, end = 0] = [part.runs[pair], part.runs[pair + 1]];
    const [from, to] = newestFirst ? [first, Math.min(end, block + 1)] : [Math.max(first, block), end];
    if (from < to) runs.push(from, to);
  }
  return newestFirst ? { ...part, runs, endBytes: offset } : { ...part, runs, startBytes: offset };
}

function noteProgress(progress: FamilyProgress, { number: file }: FilePart, { blocks, pausedAt }: ScanReport): void {
  const lastBlock = blocks.at(-1);
  if (pausedAt !== undefined) progress.reached = { file, offset: pausedAt };
  else if (lastBlock !== undefined) progress.reached = { file, offset: (lastBlock + 1) * BLOCK_BYTES };
}

function remember({ family }: FamilyTask, part: FilePart, { summaries, tail, holeAt }: ScanReport): void {
  for (const summary of summaries) part.index.add(summary);
  if (tail) part.index.noteTail(tail);
  if (holeAt !== undefined) noteHole(family.problems, part.opened.name, holeAt);
}
