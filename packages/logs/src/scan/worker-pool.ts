import { ThreadLost } from '../log-error.ts';
import { CancelFlag, JobCancelled } from './cancel-flag.ts';
import { hasRegex, isLong } from './job-traits.ts';
import type { Job, JobResults } from './jobs.ts';
import { becomesReady, lostError, STOP_MS, startWorker, type Thread, type Waiting } from './pool-thread.ts';
import { ScanHere } from './scan-here.ts';
import { asError, isWorkerFailure } from './thread-errors.ts';
import type { WorkerReady, WorkerResponse, WorkerTask } from './worker-messages.ts';

/** An idle thread is ended after this long to free its memory. */
const IDLE_MS = 30_000;

/** Threads of a prepared pool that are kept when idle. Each takes about 14 MB; others start while it works. */
const KEPT_THREADS = 1;

/**
 * A job with a regex pauses after a tenth of a second. One that has not after this long is stuck in a single record.
 */
const STUCK_MS = 1000;

interface PoolOptions {
  /** Whether the calling thread also takes jobs, before any thread is started. */
  scansHere?: boolean;
}

interface PoolUsage {
  threads: number;
  /** Running or queued. */
  jobs: number;
  /** Threads replaced so far because they died or did not stop when requested. */
  replacedThreads: number;
}

/** The scanning threads. Started when there is work, ended when idle for a while. */
export class WorkerPool {
  readonly #most: number;
  readonly #here: ScanHere | undefined;
  readonly #threads = new Set<Thread>();
  /** Short jobs before long ones: a request for a page of records does not wait for one that counts a whole log. */
  readonly #queue: Waiting[] = [];
  #nextId = 1;
  #closed = false;
  #keptThreads = 0;
  #replacedThreads = 0;
  /** Compiled by the thread that has prepared. */
  #code: Uint8Array | undefined;

  constructor(most: number, { scansHere = false }: PoolOptions = {}) {
    this.#most = most;
    if (scansHere) this.#here = new ScanHere();
  }

  /** Number of jobs worth submitting at the same time. */
  get width(): number {
    return this.#most + (this.#here ? 1 : 0);
  }

  get usage(): PoolUsage {
    const busy = [...this.#threads].filter(({ current }) => current).length + (this.#here?.isBusy ? 1 : 0);
    return {
      threads: this.#threads.size,
      jobs: busy + this.#queue.length,
      replacedThreads: this.#replacedThreads,
    };
  }

  /**
   * Rejects with `JobCancelled` as soon as the flag is set, if the job has not started; if it has, it ends by itself or
   * is terminated with its thread after a second. Once it settles, nothing it was given is in use any more.
   */
  run<J extends Job>(job: J, flag = new CancelFlag()): Promise<JobResults[J['kind']]> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error('the worker pool is closed'));
      if (flag.isSet) return reject(new JobCancelled());
      const task: WorkerTask = { id: this.#nextId++, job, cancelled: flag.shared };
      const waiting: Waiting = {
        task,
        flag,
        resolve: (result) => {
          forget();
          if (typeof result === 'object' && 'pausedAt' in result) flag.isSlow = true;
          resolve(result as JobResults[J['kind']]);
        },
        reject: (error) => {
          forget();
          reject(error);
        },
      };
      const forget = flag.whenSet(() => this.#cancel(waiting));
      this.#enqueue(waiting);
      this.#dispatch();
    });
  }

  /** Starts threads, one after the other, before there is any job, and keeps them when idle. */
  async prepare(): Promise<void> {
    this.#keptThreads = Math.min(this.#most, KEPT_THREADS);
    while (!this.#closed && this.#threads.size < this.#keptThreads) {
      const thread = this.#start({ prepares: true });
      // One that cannot start is left to the first job, which reports why.
      if (!thread || !(await becomesReady(thread))) return;
    }
  }

  /** Ends all threads; running jobs fail. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#queue.splice(0)) waiting.reject(new ThreadLost('the worker pool is closing'));
    await Promise.all(Array.from(this.#threads, (thread) => this.#end(thread)));
  }

  #enqueue(waiting: Waiting): void {
    const index = isLong(waiting.task.job, waiting.flag)
      ? -1
      : this.#queue.findIndex(({ task, flag }) => isLong(task.job, flag));
    this.#queue.splice(index < 0 ? this.#queue.length : index, 0, waiting);
  }

  /** Removes a queued job; terminates the thread of a running one, unless it ends by itself. */
  #cancel(waiting: Waiting): void {
    const index = this.#queue.indexOf(waiting);
    if (index >= 0) {
      this.#queue.splice(index, 1);
      waiting.reject(new JobCancelled());
      return;
    }
    const thread = [...this.#threads].find(({ current }) => current === waiting);
    if (!thread) return;
    thread.stopTimer = setTimeout(() => {
      thread.isEnding = true;
      void thread.worker.terminate();
    }, STOP_MS);
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      if (this.#takeHere()) continue;
      const index = this.#nextJob();
      const next = this.#queue[index];
      if (!next) return;
      const thread = this.#threadFor(next);
      if (!thread) return;
      this.#queue.splice(index, 1);
      this.#give(thread, next);
    }
  }

  /**
   * A thread that can take the job now. One that is still starting takes none: until it is ready, others do the jobs, and
   * results that come in order do not wait for it.
   */
  #threadFor({ task }: Waiting): Thread | undefined {
    const free = [...this.#threads].filter(({ current, isEnding }) => !current && !isEnding);
    const ready = free.find(({ isReady }) => isReady);
    if (ready) return ready;
    while (free.length < this.#queue.length) {
      const started = this.#start();
      if (!started) break;
      free.push(started);
    }
    // The process must not end while a job waits for them.
    for (const { worker } of free) worker.ref();
    // The calling thread, which takes all others, would wait behind it.
    return this.#here && task.job.kind === 'packed-map' ? free[0] : undefined;
  }

  /** A thread beyond the usual number never takes a regex: it exists because all others are stuck in one. */
  #nextJob(): number {
    const regexes = [...this.#threads].filter(({ current }) => current && hasRegex(current.task.job)).length;
    return regexes < this.#most ? 0 : this.#queue.findIndex(({ task }) => !hasRegex(task.job));
  }

  #give(thread: Thread, waiting: Waiting): void {
    clearTimeout(thread.timer);
    thread.current = waiting;
    thread.worker.ref();
    const { job } = waiting.task;
    thread.worker.postMessage(waiting.task, 'room' in job && job.room ? [...job.room] : []);
    // It is the thread's now.
    if ('room' in job) job.room = undefined;
    if (!hasRegex(job)) return;
    thread.timer = setTimeout(() => {
      thread.isStuck = true;
      this.#dispatch();
    }, STUCK_MS).unref();
  }

  /**
   * Whether the calling thread takes the next job now. Not for decompressing a whole file: it would block for too long.
   */
  #takeHere(): boolean {
    const [next] = this.#queue;
    if (!this.#here || this.#here.isBusy || !next || next.task.job.kind === 'packed-map') return false;
    this.#queue.shift();
    const done = this.#here.run(next.task.job, next.flag).finally(() => this.#dispatch());
    done.then(next.resolve, next.reject);
    return true;
  }

  /** Starts one thread more than usual if all are stuck: simple requests need not wait for them. */
  #start({ prepares = false } = {}): Thread | undefined {
    const stuck = [...this.#threads].filter(({ isStuck }) => isStuck).length;
    if (this.#threads.size >= this.#most + (stuck >= this.#most ? 1 : 0)) return undefined;
    const worker = startWorker({ prepares }, this.#code);
    const timers = { timer: undefined, stopTimer: undefined };
    const thread: Thread = { worker, isReady: false, isStuck: false, isEnding: false, current: undefined, ...timers };
    this.#threads.add(thread);
    worker.unref();
    worker.on('message', (message: WorkerResponse | WorkerReady) => {
      if (message === 'ready') this.#begin(thread);
      else if ('code' in message) this.#code = message.code;
      else this.#finish(thread, message);
    });
    worker.on('error', (error) => this.#lose(thread, isWorkerFailure(error) ? new ThreadLost(error) : error));
    worker.on('exit', () => this.#lose(thread, lostError(thread)));
    return thread;
  }

  #begin(thread: Thread): void {
    thread.isReady = true;
    if (!thread.current) this.#rest(thread);
    this.#dispatch();
  }

  #finish(thread: Thread, response: WorkerResponse): void {
    const { current } = thread;
    clearTimeout(thread.stopTimer);
    thread.current = undefined;
    thread.isStuck = false;
    this.#rest(thread);
    if (current && 'result' in response) current.resolve(response.result);
    else if (current && 'failure' in response) current.reject(asError(response.failure));
    this.#dispatch();
  }

  #rest(thread: Thread): void {
    clearTimeout(thread.timer);
    thread.worker.unref();
    if (this.#threads.size <= this.#keptThreads) return;
    thread.timer = setTimeout(() => this.#end(thread), IDLE_MS).unref();
  }

  /** A thread that died (out of memory, for example) takes its job with it; the next job gets a new one. */
  #lose(thread: Thread, error: unknown): void {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.timer);
    clearTimeout(thread.stopTimer);
    if (thread.current) this.#replacedThreads++;
    // One that could not start has no job yet: without this, threads would be started for the same one again and again.
    const lost = thread.current ?? (thread.isReady || this.#here ? undefined : this.#queue.shift());
    lost?.reject(error instanceof Error ? error : new Error(String(error)));
    if (!this.#closed) this.#dispatch();
  }

  async #end(thread: Thread): Promise<void> {
    if (thread.current && !this.#closed) return;
    this.#lose(thread, new ThreadLost('the worker pool is closing'));
    await thread.worker.terminate();
  }
}
