import type { Job, JobResults } from './jobs.ts';

/**
 * While several clients wait, each has a thread for this long: a fraction of what a small search takes. A job pauses after
 * it, and the next job of the same client need not wait before.
 */
export const CLIENT_TURN_MS = 5;

/** What a thread is told when it starts. */
export interface WorkerOptions {
  /** It compiles what searches run before its first job. */
  prepares: boolean;
  /** One Int32, shared by all threads; not zero: jobs of other clients wait. */
  contended: SharedArrayBuffer;
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
