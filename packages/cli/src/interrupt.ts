import { EXIT } from './exit-codes.ts';

/** Fires on the first Ctrl-C or SIGTERM, so that the work under way ends in order; a second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort(new Interrupted());
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return controller.signal;
}

/** The user has had enough. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
