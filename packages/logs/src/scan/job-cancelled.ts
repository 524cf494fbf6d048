/** A job ended because it was cancelled. Never leaves the engine: whoever set the flag knows why. */
export class JobCancelled extends Error {
  override readonly name = 'JobCancelled';

  constructor() {
    super('the scan was cancelled');
  }
}
