import type { CancelFlag } from '../cancel-flag.ts';
import { hasRegex as filterHasRegex } from '../query/filter-to-query.ts';
import type { Job } from './jobs.ts';
import type { Waiting } from './pool-thread.ts';

/**
 * Jobs that wait for a thread. Clients take turns, one job each, however many jobs each has. Of the jobs of a client,
 * short ones come before long ones: a request for a page of records does not wait for one that counts a whole log.
 */
export class JobQueue {
  /** By client; the next one first. None is empty. */
  readonly #clients = new Map<string, Waiting[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(waiting: Waiting): void {
    const { client } = waiting.flag;
    const jobs = this.#clients.get(client) ?? [];
    const index = isLong(waiting.task.job, waiting.flag)
      ? -1
      : jobs.findIndex(({ task, flag }) => isLong(task.job, flag));
    jobs.splice(index < 0 ? jobs.length : index, 0, waiting);
    this.#clients.set(client, jobs);
    this.#length++;
  }

  /** Whether a job of another client than this one waits. */
  hasOther(client: string): boolean {
    return this.#clients.size > 1 || (this.#clients.size === 1 && !this.#clients.has(client));
  }

  /** Makes a job one of another client. */
  move(waiting: Waiting, client: string): void {
    const isQueued = this.drop(waiting);
    waiting.flag.client = client;
    if (isQueued) this.add(waiting);
  }

  /** The next job that can be taken. */
  first(canTake: (waiting: Waiting) => boolean): Waiting | undefined {
    for (const jobs of this.#clients.values()) {
      const found = jobs.find(canTake);
      if (found) return found;
    }
    return undefined;
  }

  /** Removes a job that is taken: it was the turn of its client. */
  take(waiting: Waiting): void {
    const jobs = this.#remove(waiting);
    const { client } = waiting.flag;
    this.#clients.delete(client);
    if (jobs && jobs.length > 0) this.#clients.set(client, jobs);
  }

  /** Removes a job that is not wanted any more. False: it is not in the queue. */
  drop(waiting: Waiting): boolean {
    const jobs = this.#remove(waiting);
    if (jobs?.length === 0) this.#clients.delete(waiting.flag.client);
    return jobs !== undefined;
  }

  /** Removes all jobs. */
  clear(): Waiting[] {
    const all = [...this.#clients.values()].flat();
    this.#clients.clear();
    this.#length = 0;
    return all;
  }

  /** The other jobs of its client; `undefined` if it is not in the queue. */
  #remove(waiting: Waiting): Waiting[] | undefined {
    const jobs = this.#clients.get(waiting.flag.client);
    const index = jobs?.indexOf(waiting) ?? -1;
    if (!jobs || index < 0) return undefined;
    jobs.splice(index, 1);
    this.#length--;
    return jobs;
  }
}

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
function isLong(job: Job, { isSlow }: CancelFlag): boolean {
  if (isSlow || isWhole(job)) return true;
  if (!('runs' in job)) return false;
  let blocks = 0;
  for (let run = 0; run < job.runs.length; run += 2) blocks += (job.runs[run + 1] ?? 0) - (job.runs[run] ?? 0);
  return blocks > SHORT_BLOCKS;
}
