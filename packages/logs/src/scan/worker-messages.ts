import type { Job, JobResults } from './jobs.ts';

/** What a thread is told when it starts. */
export interface WorkerOptions {
  /** It compiles what searches run before its first job. */
  prepares: boolean;
}

/** Sent by a thread: that it can take jobs; and its compiled code, if it has prepared, with which others start sooner. */
export type WorkerReady = 'ready' | { code: Uint8Array };

export interface WorkerTask {
  id: number;
  job: Job;
  /** One Int32; not zero: the result is no longer wanted. */
  cancelled: SharedArrayBuffer;
}

export type WorkerResponse =
  | { id: number; result: JobResults[Job['kind']] }
  | { id: number; failure: { code: string | null; message: string } };
