/** A job ended because nobody wants its result any more. Never leaves the engine: whoever set the flag knows why. */
export class JobCancelled extends Error {
  override readonly name = 'JobCancelled';

  constructor() {
    super('the scan was cancelled');
  }
}
