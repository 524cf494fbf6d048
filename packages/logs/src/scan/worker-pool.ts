import { Worker } from 'node:worker_threads';
import { LogError, type LogErrorCode } from '../log-error.ts';
import { CancelFlag } from './cancel-flag.ts';
import type { Job, JobResults } from './jobs.ts';
import { ScanHere } from './scan-here.ts';
import type { WorkerAnswer, WorkerTask } from './worker-messages.ts';

/** A thread without work gives its memory back after this long. */
const IDLE_MS = 30_000;

/** A scan works on buffers outside the heap; what it makes besides is short-lived, and costs memory only if kept for long. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2 };

/** 4 MiB: as much as a page of records near its place takes. */
const SHORT_BLOCKS = 16;

/** Node runs no TypeScript in threads: tests, which run the source, take the built one. */
const WORKER_URL = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/scan/worker.js' : './worker.js',
  import.meta.url,
);

interface Waiting {
  task: WorkerTask;
  flag: CancelFlag;
  resolve(result: JobResults[Job['kind']]): void;
  reject(error: Error): void;
}

interface Thread {
  worker: Worker;
  /** Its code has been loaded. */
  isReady: boolean;
  current: Waiting | undefined;
  idleTimer: NodeJS.Timeout | undefined;
}

export interface PoolOptions {
  /** Whether the calling thread takes jobs too, before any other is started. */
  scansHere?: boolean;
}

/** Threads that scan. Started when there is work, ended when there has been none for a while. */
export class WorkerPool {
  readonly #most: number;
  readonly #here: ScanHere | undefined;
  readonly #threads = new Set<Thread>();
  /** Short jobs before long ones: who wants a page of records does not wait for who counts a whole log. */
  readonly #queue: Waiting[] = [];
  #nextId = 1;
  #closed = false;

  constructor(most: number, { scansHere = false }: PoolOptions = {}) {
    this.#most = most;
    if (scansHere) this.#here = new ScanHere();
  }

  /** Jobs worth giving at the same time. */
  get width(): number {
    return this.#most + (this.#here ? 1 : 0);
  }

  get usage(): { threads: number; jobs: number } {
    const busy = [...this.#threads].filter(({ current }) => current).length + (this.#here?.isBusy ? 1 : 0);
    return { threads: this.#threads.size, jobs: busy + this.#queue.length };
  }

  run<J extends Job>(job: J, flag = new CancelFlag()): Promise<JobResults[J['kind']]> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error('the scanning threads have ended'));
      const task: WorkerTask = { id: this.#nextId++, job, cancelled: flag.shared };
      this.#enqueue({ task, flag, resolve: resolve as Waiting['resolve'], reject });
      this.#dispatch();
    });
  }

  /** Ends all threads; what was under way fails. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#queue.splice(0)) waiting.reject(new Error('the scanning threads are ending'));
    await Promise.all(Array.from(this.#threads, (thread) => this.#end(thread)));
  }

  #enqueue(waiting: Waiting): void {
    const index = isLong(waiting.task.job) ? -1 : this.#queue.findIndex(({ task }) => isLong(task.job));
    this.#queue.splice(index < 0 ? this.#queue.length : index, 0, waiting);
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      if (this.#takeHere()) continue;
      const free = [...this.#threads].find(({ current }) => !current) ?? this.#start();
      // While it starts, the calling thread may have done the job already.
      if (!free || (this.#here && !free.isReady && this.#queue[0]?.task.job.kind !== 'gz-map')) return;
      const next = this.#queue.shift();
      if (!next) return;
      clearTimeout(free.idleTimer);
      free.current = next;
      free.worker.ref();
      free.worker.postMessage(next.task);
    }
  }

  /** Whether the next job is now done by the calling thread. Unpacking a whole file is not: it would be away for too long. */
  #takeHere(): boolean {
    const [next] = this.#queue;
    if (!this.#here || this.#here.isBusy || !next || next.task.job.kind === 'gz-map') return false;
    this.#queue.shift();
    const done = this.#here.run(next.task.job, next.flag).finally(() => this.#dispatch());
    done.then(next.resolve, next.reject);
    return true;
  }

  #start(): Thread | undefined {
    if (this.#threads.size >= this.#most) return undefined;
    const worker = new Worker(WORKER_URL, { resourceLimits: RESOURCE_LIMITS, execArgv: [] });
    const thread: Thread = { worker, isReady: false, current: undefined, idleTimer: undefined };
    this.#threads.add(thread);
    worker.unref();
    worker.on('message', (answer: WorkerAnswer | 'ready') => {
      if (answer !== 'ready') return this.#finish(thread, answer);
      thread.isReady = true;
      if (!thread.current) this.#rest(thread);
      this.#dispatch();
    });
    worker.on('error', (error) => this.#lose(thread, error));
    worker.on('exit', () => this.#lose(thread, new Error('a scanning thread ended')));
    return thread;
  }

  #finish(thread: Thread, answer: WorkerAnswer): void {
    const { current } = thread;
    thread.current = undefined;
    this.#rest(thread);
    if (current && 'result' in answer) current.resolve(answer.result);
    else if (current && 'failure' in answer) current.reject(asError(answer.failure));
    this.#dispatch();
  }

  #rest(thread: Thread): void {
    thread.worker.unref();
    thread.idleTimer = setTimeout(() => this.#end(thread), IDLE_MS).unref();
  }

  /** A thread that died (out of memory, say) takes its job with it; the next job gets a new one. */
  #lose(thread: Thread, error: unknown): void {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.idleTimer);
    thread.current?.reject(error instanceof Error ? error : new Error(String(error)));
    if (!this.#closed) this.#dispatch();
  }

  async #end(thread: Thread): Promise<void> {
    if (thread.current && !this.#closed) return;
    this.#lose(thread, new Error('the scanning threads are ending'));
    await thread.worker.terminate();
  }
}

function isLong(job: Job): boolean {
  if (job.kind === 'gz-map') return true;
  if (!('runs' in job)) return false;
  let blocks = 0;
  for (let run = 0; run < job.runs.length; run += 2) blocks += (job.runs[run + 1] ?? 0) - (job.runs[run] ?? 0);
  return blocks > SHORT_BLOCKS;
}

function asError({ code, message }: { code: string | null; message: string }): Error {
  return code === null ? new Error(message) : new LogError(code as LogErrorCode, message);
}
