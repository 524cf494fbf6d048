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
  readonly #clients = new Map<string, ClientJobs>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(waiting: Waiting): void {
    const { client } = waiting.flag;
    const jobs = this.#clients.get(client) ?? { short: new Set(), long: new Set() };
    jobs[isLong(waiting.task.job, waiting.flag) ? 'long' : 'short'].add(waiting);
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
    for (const { short, long } of this.#clients.values()) {
      for (const waiting of short) if (canTake(waiting)) return waiting;
      for (const waiting of long) if (canTake(waiting)) return waiting;
    }
    return undefined;
  }

  /** Removes a job that is taken: it was the turn of its client. */
  take(waiting: Waiting): void {
    const { client } = waiting.flag;
    const jobs = this.#clients.get(client);
    this.drop(waiting);
    if (jobs && this.#clients.delete(client)) this.#clients.set(client, jobs);
  }

  /** Removes small jobs of a client, at most so many: one turn is enough for all of them. */
  takeSmall(client: string, most: number): Waiting[] {
    const taken: Waiting[] = [];
    for (const waiting of this.#clients.get(client)?.short ?? []) {
      if (taken.length >= most || !isSmall(waiting.task.job)) break;
      taken.push(waiting);
    }
    for (const waiting of taken) this.drop(waiting);
    return taken;
  }

  /** Removes a job that is not wanted any more. False: it is not in the queue. */
  drop(waiting: Waiting): boolean {
    const { client } = waiting.flag;
    const jobs = this.#clients.get(client);
    if (!jobs || !(jobs.short.delete(waiting) || jobs.long.delete(waiting))) return false;
    this.#length--;
    if (jobs.short.size + jobs.long.size === 0) this.#clients.delete(client);
    return true;
  }

  /** Removes all jobs. */
  clear(): Waiting[] {
    const all = Array.from(this.#clients.values(), ({ short, long }) => [...short, ...long]).flat();
    this.#clients.clear();
    this.#length = 0;
    return all;
  }
}

/** In the order in which they came. */
interface ClientJobs {
  short: Set<Waiting>;
  long: Set<Waiting>;
}

/** Text of a file that takes less time to scan than handing it to a thread. */
export const SMALL_FILE_BYTES = 64 * 1024;

/** Whether it reads one small file and cannot take long: a thread gets many of them at once. */
export function isSmall(job: Job): boolean {
  const isScan = job.kind === 'records' || job.kind === 'times';
  if (!isScan || hasRegex(job) || ('room' in job && job.room)) return false;
  return job.file.packedMap === undefined && job.file.textBytes <= SMALL_FILE_BYTES;
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

const COUNTS: ReadonlySet<Job['kind']> = new Set(['histogram', 'digest', 'top', 'fields']);

/** Whether it reads every record: such jobs come in numbers that keep all threads busy. */
export function readsAll({ kind }: Job): boolean {
  return COUNTS.has(kind);
}

/** Whether short jobs go first. */
function isLong(job: Job, { isSlow }: CancelFlag): boolean {
  if (isSlow || isWhole(job)) return true;
  if (!('runs' in job)) return false;
  let blocks = 0;
  for (let run = 0; run < job.runs.length; run += 2) blocks += (job.runs[run + 1] ?? 0) - (job.runs[run] ?? 0);
  return blocks > SHORT_BLOCKS;
}
