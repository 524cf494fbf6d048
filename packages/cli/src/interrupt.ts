import { EXIT } from './exit-codes.ts';

/** Work that does not end in order within this time after a signal is ended: a node may never respond. */
const GRACE_MS = 2000;

/**
 * Fires on the first Ctrl-C or SIGTERM, so that the work under way ends in order, for which it has `graceMs`; a second one ends
 * the process at once.
 */
export function interruptSignal({ graceMs = GRACE_MS } = {}): AbortSignal {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    const interrupted = new Interrupted(name);
    if (controller.signal.aborted) process.exit(interrupted.exitCode);
    controller.abort(interrupted);
    if (Number.isFinite(graceMs)) setTimeout(() => process.exit(interrupted.exitCode), graceMs).unref();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return controller.signal;
}

/** A signal ended the work; the reason of the `AbortSignal` that `interruptSignal` gives. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** What a shell reports for a program that the signal ended. */
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`ended by ${signal}`);
    this.exitCode = signal === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted;
  }
}

/** The interruption behind an error, if there is one: clients wrap the reason of an abort. */
export function interruptionIn(error: unknown): Interrupted | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (at instanceof Interrupted) return at;
  return undefined;
}
