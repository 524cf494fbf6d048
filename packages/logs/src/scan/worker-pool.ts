import { CancelFlag, JobCancelled } from '../cancel-flag.ts';
import { LogError, type LogErrorCode, systemCode, ThreadLost } from '../log-error.ts';
import { ONCE, Shared } from '../shared.ts';
import { isSmall, isWhole, JobQueue, mayOccupy, readsAll } from './job-queue.ts';
import type { JobRunner } from './job-runner.ts';
import {
  CLIENT_TURN_MS,
  type Job,
  type JobResults,
  type WorkerReady,
  type WorkerResponse,
  type WorkerTask,
} from './jobs.ts';
import { becomesReady, lostError, STOP_MS, startWorker, type Thread, type Waiting } from './pool-thread.ts';

/** An idle thread is ended after this long to free its memory, which is 18 MB. */
const IDLE_MS = 15_000;

/**
 * One thread of a prepared pool is kept for longer: whoever reads logs often pauses. It takes about 18 MB, and the first
 * search without it takes 0.17 s more; others start while it works.
 */
const KEPT_MS = 600_000;

/**
 * A job with a regex pauses after a tenth of a second. One that has not after this long is stuck in a single record.
 */
const STUCK_MS = 1000;

/**
 * While a thread works, jobs of its client wait until the process has used so much processor time before another one is
 * started: that takes 0.11 s, and one thread searches 1 GiB for a text in less. Time that passes counts half: a thread may
 * wait for a disk, or for a processor, of which there are no more if another one waits, too.
 */
const START_CPU_MS = 500;

/** A job that works on a whole file never pauses. If all threads have such jobs for this long, others get one more. */
const OCCUPIED_MS = 50;

/** Small jobs that a thread gets at once: they take a few milliseconds together. */
const MOST_IN_BUNDLE = 32;

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
  readonly #queue = new JobQueue();
  /** Informs the threads that clients wait for each other: then they pause sooner. */
  readonly #contended = new Int32Array(new SharedArrayBuffer(4));
  #turnTimer: NodeJS.Timeout | undefined;
  #startTimer: NodeJS.Timeout | undefined;
  /** Since when jobs have waited for one of the threads that work. */
  #backlog: { sinceMs: number; used: NodeJS.CpuUsage } | undefined;
  #nextId = 1;
  #closed = false;
  #isPrepared = false;
  #replacedThreads = 0;

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
      this.#queue.add(waiting);
      this.#dispatch();
    });
  }

  /** A job that several clients wait for is one of the client that came last, in case it waits behind others of the first. */
  adopt(flag: CancelFlag, client: string): void {
    const waiting = this.#queue.first((queued) => queued.flag === flag);
    if (waiting) this.#queue.move(waiting, client);
  }

  /** Starts a thread before there is any job. One that cannot start is left to the first job, which reports why. */
  async prepare(): Promise<void> {
    this.#isPrepared = true;
    const thread = this.#closed || this.#threads.size > 0 ? undefined : this.#start({ prepares: true });
    if (thread) await becomesReady(thread);
  }

  /** Ends all threads; running jobs fail. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#turnTimer);
    clearTimeout(this.#startTimer);
    for (const waiting of this.#queue.clear()) waiting.reject(new ThreadLost('the worker pool is closing'));
    await Promise.all(Array.from(this.#threads, (thread) => this.#end(thread)));
  }

  /** Removes a queued job; terminates the thread of a running one, unless it ends by itself. */
  #cancel(waiting: Waiting): void {
    if (this.#queue.drop(waiting)) {
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
    this.#assignJobs();
    if (this.#queue.length === 0) this.#backlog = undefined;
    const isContended = [...this.#threads].some(({ current }) => current && this.#queue.hasOther(current.flag.client));
    Atomics.store(this.#contended, 0, isContended ? 1 : 0);
    this.#awaitTurn();
  }

  /** Jobs that wait while a thread is kept for the next job of its client get it when that turn has ended. */
  #awaitTurn(): void {
    clearTimeout(this.#turnTimer);
    if (this.#queue.length === 0) return;
    const kept = [...this.#threads].filter((thread) => isFree(thread) && !isOpen(thread));
    if (kept.length === 0) return;
    const waitMs = Math.min(...kept.map(({ turn }) => turn.endMs)) - performance.now();
    // Timers may be early by a part of a millisecond.
    this.#turnTimer = setTimeout(() => this.#dispatch(), Math.ceil(waitMs) + 1);
  }

  #assignJobs(): void {
    while (this.#queue.length > 0) {
      if (this.#takeHere()) continue;
      const next = this.#nextJob();
      const thread = next && this.#threadFor(next);
      if (!thread) return;
      this.#queue.take(next);
      this.#give(thread, this.#withOthers(next));
    }
  }

  /** A small job together with those of the same client that wait behind it. Each of them is still cancelled by its own flag. */
  #withOthers(next: Waiting): Waiting {
    const others = isSmall(next.task.job) ? this.#queue.takeSmall(next.flag.client, MOST_IN_BUNDLE - 1) : [];
    if (others.length === 0) return next;
    const all = [next, ...others];
    const flag = new CancelFlag({ client: next.flag.client });
    const job = { kind: 'bundle' as const, tasks: all.map(({ task }) => task) };
    return {
      task: { id: this.#nextId++, job, cancelled: flag.shared },
      flag,
      resolve: (responses) => {
        for (const [index, response] of (responses as WorkerResponse[]).entries()) settle(all[index], response);
      },
      reject: (error) => {
        for (const { reject } of all) reject(error);
      },
    };
  }

  /**
   * A thread that can take the job now. One that is still starting takes none: until it is ready, others do the jobs, and
   * results that come in order do not wait for it.
   */
  #threadFor({ task, flag }: Waiting): Thread | undefined {
    const free = [...this.#threads].filter(({ current, isEnding }) => !current && !isEnding);
    const ready = free.filter(({ isReady }) => isReady);
    if (ready.length > 0) return ready.find(({ turn }) => turn.client === flag.client) ?? ready.find(isOpen);
    if (this.#mayWait(task.job)) return undefined;
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

  /** Whether the jobs that wait are left to the threads that work on others of the same client, which end soon. */
  #mayWait(next: Job): boolean {
    clearTimeout(this.#startTimer);
    if (readsAll(next)) return false;
    const working = Array.from(this.#threads, ({ current }) => current).filter((current) => current !== undefined);
    if (working.length === 0 || working.length === this.#most) return false;
    if (working.some(({ task, flag }) => mayOccupy(task.job) || this.#queue.hasOther(flag.client))) return false;
    this.#backlog ??= { sinceMs: performance.now(), used: process.cpuUsage() };
    const { user, system } = process.cpuUsage(this.#backlog.used);
    const restMs = START_CPU_MS - Math.max((user + system) / 1000, (performance.now() - this.#backlog.sinceMs) / 2);
    if (restMs > 0) this.#startTimer = setTimeout(() => this.#dispatch(), Math.ceil(restMs) + 1).unref();
    return restMs > 0;
  }

  /** A thread beyond the usual number takes only what ends soon: it exists because all others are occupied. */
  #nextJob(): Waiting | undefined {
    const threads = [...this.#threads];
    const occupied = threads.filter(({ current }) => current && mayOccupy(current.task.job)).length;
    const ready = threads.filter(isFree);
    const isOpenToAll = ready.length === 0 || ready.some(isOpen);
    return this.#queue.first(
      ({ task, flag }) =>
        (occupied < this.#most || !mayOccupy(task.job)) &&
        (isOpenToAll || ready.some(({ turn }) => turn.client === flag.client)),
    );
  }

  #give(thread: Thread, waiting: Waiting): void {
    clearTimeout(thread.timer);
    thread.current = waiting;
    thread.worker.ref();
    const { client } = waiting.flag;
    if (thread.turn.client !== client || isOpen(thread))
      thread.turn = { client, endMs: performance.now() + CLIENT_TURN_MS };
    const { job } = waiting.task;
    thread.worker.postMessage(waiting.task, 'room' in job && job.room ? [...job.room] : []);
    // It is the thread's now.
    if ('room' in job) job.room = undefined;
    if (!mayOccupy(job)) return;
    const stuckMs = isWhole(job) ? OCCUPIED_MS : STUCK_MS;
    thread.timer = setTimeout(() => {
      thread.isStuck = true;
      this.#dispatch();
    }, stuckMs).unref();
  }

  /** Whether the calling thread takes the next job now. Not for decompressing a whole file: it would block too long. */
  #takeHere(): boolean {
    if (!this.#here || this.#here.isBusy) return false;
    const next = this.#queue.first(() => true);
    if (!next || next.task.job.kind === 'packed-map') return false;
    this.#queue.take(next);
    const done = this.#here.run(next.task.job, next.flag).finally(() => this.#dispatch());
    done.then(next.resolve, next.reject);
    return true;
  }

  /** Starts one thread more than usual if all are stuck: simple requests need not wait for them. */
  #start({ prepares = false } = {}): Thread | undefined {
    const stuck = [...this.#threads].filter(({ isStuck }) => isStuck).length;
    if (this.#threads.size >= this.#most + (stuck >= this.#most ? 1 : 0)) return undefined;
    const worker = startWorker({ prepares, contended: this.#contended.buffer });
    const timers = { turn: NO_TURN, timer: undefined, stopTimer: undefined };
    const thread: Thread = { worker, isReady: false, isStuck: false, isEnding: false, current: undefined, ...timers };
    this.#threads.add(thread);
    worker.unref();
    worker.on('message', (message: WorkerResponse | WorkerReady) => {
      if (message === 'ready') this.#begin(thread);
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
    // It is kept for the next job of the same client only while others wait.
    if (!this.#queue.hasOther(thread.turn.client)) thread.turn = NO_TURN;
    this.#rest(thread);
    settle(current, response);
    this.#dispatch();
  }

  #rest(thread: Thread): void {
    clearTimeout(thread.timer);
    thread.worker.unref();
    const idleMs = this.#isPrepared && this.#threads.size === 1 ? KEPT_MS : IDLE_MS;
    thread.timer = setTimeout(() => this.#end(thread), idleMs).unref();
  }

  /** A thread that died (out of memory, for example) takes its job with it; the next job gets a new one. */
  #lose(thread: Thread, error: unknown): void {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.timer);
    clearTimeout(thread.stopTimer);
    if (thread.current) this.#replacedThreads++;
    // One that could not start has no job yet: without this, threads would be started for the same one again and again.
    const lost = thread.current ?? (thread.isReady || this.#here ? undefined : this.#queue.first(() => true));
    if (lost) this.#queue.drop(lost);
    lost?.reject(error instanceof Error ? error : new Error(String(error)));
    if (!this.#closed) this.#dispatch();
  }

  async #end(thread: Thread): Promise<void> {
    if (thread.current && !this.#closed) return;
    this.#lose(thread, new ThreadLost('the worker pool is closing'));
    // Otherwise the process could end before whoever closes the pool has gone on.
    thread.worker.ref();
    await thread.worker.terminate();
  }
}

const NO_TURN = { client: '', endMs: 0 };

function settle(waiting: Waiting | undefined, response: WorkerResponse): void {
  if (waiting && 'result' in response) waiting.resolve(response.result);
  else if (waiting && 'failure' in response) waiting.reject(asError(response.failure));
}

function isFree({ current, isEnding, isReady }: Thread): boolean {
  return isReady && !current && !isEnding;
}

/** Whether it is nobody's turn any more. */
function isOpen({ turn }: Thread): boolean {
  return performance.now() >= turn.endMs;
}

/**
 * Runs jobs in the calling thread: for a program that has nothing else to do, and whose query is often done before a
 * thread has started.
 */
class ScanHere {
  readonly #runner = new Shared<JobRunner>(ONCE);
  #isBusy = false;

  get isBusy(): boolean {
    return this.#isBusy;
  }

  async run(job: Job, flag: CancelFlag): Promise<JobResults[Job['kind']]> {
    this.#isBusy = true;
    try {
      const runner = await this.#runner.run(async () => new (await import('./job-runner.ts')).JobRunner());
      // Lets results of other threads and signals be processed in between.
      await new Promise((resolve) => setImmediate(resolve));
      return await runner.run(job, () => flag.isSet);
    } finally {
      this.#isBusy = false;
    }
  }
}

/** Ended by the system: out of memory, out of threads. Anything else is a mistake in its code. */
function isWorkerFailure(error: unknown): boolean {
  return systemCode(error)?.startsWith('ERR_WORKER_') ?? false;
}

/** An error that a thread has described. */
function asError({ code, message }: { code: string | null; message: string }): Error {
  return code === null ? new Error(message) : new LogError(code as LogErrorCode, message);
}
