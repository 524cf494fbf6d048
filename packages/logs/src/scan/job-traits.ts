import { hasRegex as filterHasRegex } from '../query/query-regexes.ts';
import type { CancelFlag } from './cancel-flag.ts';
import type { Job } from './jobs.ts';

/** 4 MiB: what a page of records near its position takes. */
const SHORT_BLOCKS = 16;

/** Whether a single record may take long. */
export function hasRegex(job: Job): boolean {
  return 'filter' in job && filterHasRegex(job.filter);
}

/** Whether it works on a whole file, or on much of it, without a pause. */
export function isWhole(job: Job): boolean {
  return job.kind === 'packed-map' || job.kind === 'segment' || (job.kind === 'first-at' && job.scanFrom !== undefined);
}

/** Whether it may take long without a pause. */
export function mayOccupy(job: Job): boolean {
  return hasRegex(job) || isWhole(job);
}

/** Whether short jobs go first. */
export function isLong(job: Job, { isSlow }: CancelFlag): boolean {
  if (isSlow || isWhole(job)) return true;
  if (!('runs' in job)) return false;
  let blocks = 0;
  for (let run = 0; run < job.runs.length; run += 2) blocks += (job.runs[run + 1] ?? 0) - (job.runs[run] ?? 0);
  return blocks > SHORT_BLOCKS;
}
