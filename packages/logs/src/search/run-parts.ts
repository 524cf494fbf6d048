import { BLOCK_BYTES } from '../scan/blocks.ts';
import type { Job, JobResults, ScanReport } from '../scan/jobs.ts';
import type { FamilyTask, FilePart } from './file-parts.ts';
import { fileParts } from './file-parts.ts';
import { noteProblem } from './open-family.ts';

export interface PartOutcome<K extends Job['kind']> {
  part: FilePart;
  result: JobResults[K];
}

type ReportingJob = Extract<Job, { runs: readonly number[] }>;

/**
 * Scans the parts of a family in several threads at once and gives what they found in scan order. A file that fails is
 * noted and the others go on. Ends, when cancelled, only after all threads have let go of the files.
 */
export async function* runParts<J extends ReportingJob>(
  task: FamilyTask,
  jobFor: (part: FilePart) => J,
): AsyncGenerator<PartOutcome<J['kind']>, void, undefined> {
  const { shop, flag, family, tally, progress, ahead = shop.pool.width } = task;
  const parts = fileParts(task);
  const running: { part: FilePart; result: Promise<JobResults[J['kind']]> }[] = [];
  let more = true;
  // Only when the first part did not suffice is it worth while to scan ahead.
  let depth = 0;
  let filling: Promise<void> | undefined;
  /** One more than there are threads: the next job lies ready when one of them becomes free. */
  const fill = async () => {
    while (more && running.length <= depth) {
      const next = await parts.next();
      more = !next.done;
      if (next.done) return;
      const result = shop.pool.run(jobFor(next.value), flag);
      result.catch(() => {}); // looked at when its turn comes, which may be never
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
      // Making the next file ready may take long: what is found meanwhile must not wait for it.
      const ready = keepFilling();
      if (running.length === 0) await ready;
      else ready.catch(() => {}); // fails again when it is waited for
      const first = running.shift();
      if (!first && more) continue;
      if (!first) {
        // Parts end early where it was stopped.
        if (progress && !flag.isSet) progress.isComplete = true;
        return;
      }
      const result = await first.result.catch((error: unknown) => {
        if (flag.isSet) return undefined;
        return noteProblem(family.problems, first.part.opened.name, error);
      });
      if (result === undefined) continue;
      const report = result as ScanReport;
      tally.add(first.part, report);
      remember(first.part, report);
      const lastBlock = report.blocks.at(-1);
      if (progress && lastBlock !== undefined)
        progress.reached = { file: first.part.number, offset: (lastBlock + 1) * BLOCK_BYTES };
      yield { part: first.part, result };
      depth = ahead;
    }
  } finally {
    flag.set();
    await filling?.catch(() => {});
    await parts.return();
    await Promise.allSettled(running.map(({ result }) => result));
    shop.indexes.trim();
  }
}

function remember({ index }: FilePart, { summaries, tail }: ScanReport): void {
  for (const summary of summaries) index.add(summary);
  if (tail) index.noteTail(tail);
}
