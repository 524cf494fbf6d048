// owner: WorkerPool, its only user, adds its listeners in the turn in which a thread is started
import { Worker } from 'node:worker_threads';
import type { CancelFlag } from '../cancel-flag.ts';
import { LogError, ThreadLost } from '../log-error.ts';
import { packageFile } from '../package-file.ts';
import { hasRegex } from './job-queue.ts';
import type { Job, JobResults, WorkerOptions, WorkerTask } from './jobs.ts';

/**
 * Threads stop within milliseconds when requested. One that has not stopped after this long may never do so: it is
 * terminated and replaced.
 */
export const STOP_MS = 1000;

/** A scan works on buffers outside the heap; its other allocations are short-lived. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2 };

/** Node does not run TypeScript in threads: tests, which run the source, use the built file. */
export function workerUrl(moduleUrl: string | undefined = import.meta.url): URL {
  return packageFile(moduleUrl?.endsWith('.ts') ? '../../dist/scan/worker-bundle.cjs' : './worker.cjs', moduleUrl);
}

/** A job and whoever waits for it. */
export interface Waiting {
  task: WorkerTask;
  flag: CancelFlag;
  resolve(result: JobResults[Job['kind']]): void;
  reject(error: Error): void;
}

export interface Thread {
  worker: Worker;
  /** Its code has been loaded. */
  isReady: boolean;
  current: Waiting | undefined;
  /** Its job has a regex and should have paused long ago, or works on a whole file. */
  isStuck: boolean;
  /** It is being terminated; its job may have ended just before that, but it takes no other. */
  isEnding: boolean;
  /** While working: fires when it is stuck. While idle: fires when it has been idle for a while. */
  timer: NodeJS.Timeout | undefined;
  /** Whose turn it is until when: a job of another client that waits is not given to it before. */
  turn: { client: string; endMs: number };
  /** Set when its job was cancelled. */
  stopTimer: NodeJS.Timeout | undefined;
}

export function startWorker(workerData: WorkerOptions): Worker {
  return new Worker(workerUrl(), { resourceLimits: RESOURCE_LIMITS, execArgv: [], workerData });
}

export function becomesReady({ worker }: Thread): Promise<boolean> {
  return new Promise((resolve) => {
    worker.once('message', () => resolve(true));
    worker.once('exit', () => resolve(false));
  });
}

/** Why a thread ended: if it did not stop when requested, because of the regex. */
export function lostError({ current }: Thread): Error {
  if (!current?.flag.isSet || !hasRegex(current.task.job)) return new ThreadLost('a scanning thread ended');
  return new LogError(
    'REGEX_TOO_COMPLEX',
    `the regex was still running on one record ${STOP_MS} ms after the search was stopped; its thread was terminated`,
  );
}
