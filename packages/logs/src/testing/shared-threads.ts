import { WorkerPool } from '../scan/worker-pool.ts';

/** Shared by all tests of this thread, of any package: starting threads and compiling their code again takes longer than most scans. */
export const SHARED_THREADS = new WorkerPool(2);
