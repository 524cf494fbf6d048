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
  const { shop, flag, family, tally, ahead = shop.pool.width } = task;
  const parts = fileParts(task);
  const running: { part: FilePart; result: Promise<JobResults[J['kind']]> }[] = [];
  const startNext = async () => {
    const next = await parts.next();
    if (next.done) return false;
    const result = shop.pool.run(jobFor(next.value), flag);
    result.catch(() => {}); // looked at when its turn comes, which may be never
    running.push({ part: next.value, result });
    return true;
  };
  try {
    let more = true;
    while (!flag.isSet) {
      // One more than there are threads: the next job lies ready when one of them becomes free.
      while (more && running.length <= ahead) more = await startNext();
      const first = running.shift();
      if (!first) return;
      const result = await first.result.catch((error: unknown) => {
        if (flag.isSet) return undefined;
        return noteProblem(family.problems, first.part.opened.name, error);
      });
      if (result === undefined) continue;
      const report = result as ScanReport;
      tally.add(first.part.opened.name, report);
      remember(first.part, report);
      yield { part: first.part, result };
    }
  } finally {
    flag.set();
    await parts.return();
    await Promise.allSettled(running.map(({ result }) => result));
    shop.indexes.trim();
  }
}

function remember({ index }: FilePart, { summaries }: ScanReport): void {
  for (const summary of summaries) index.add(summary, (summary.block + 1) * BLOCK_BYTES);
}
