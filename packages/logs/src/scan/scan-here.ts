import type { CancelFlag } from '../cancel-flag.ts';
import { ONCE, Shared } from '../shared.ts';
import type { JobRunner } from './job-runner.ts';
import type { Job, JobResults } from './jobs.ts';

/**
 * Runs jobs in the calling thread: for a program that has nothing else to do, and whose query is often done before a
 * thread has started.
 */
export class ScanHere {
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
