import type { Job, JobResults, RecordsResult } from './jobs.ts';

export interface WorkerTask {
  id: number;
  job: Job;
  /** One Int32; not zero: the result is no longer wanted. */
  cancelled: SharedArrayBuffer;
}

export type WorkerAnswer =
  | { id: number; result: JobResults[Job['kind']] }
  /** Found records travel as JSON: made and read three times as fast as copies of so many small objects. */
  | { id: number; result: Omit<RecordsResult, 'records'>; recordsJson: string }
  | { id: number; failure: { code: string | null; message: string } };
