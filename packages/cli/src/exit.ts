/** An error the user can fix: printed as one line, without a stack. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

/** Exit codes; documented in docs/cli.md. */
export const EXIT = {
  ok: 0,
  /** No record matches, the configurations differ, the doctor found a problem, or a question was answered with no. */
  different: 1,
  error: 2,
  /** Part of the requested data could not be read. */
  partial: 3,
  /** SIGINT. */
  interrupted: 130,
  /** SIGTERM. */
  terminated: 143,
} as const;

/** How long the work may take to end after a signal before the process exits: a node may never respond. */
const GRACE_MS = 2000;

/**
 * Aborts on the first SIGINT or SIGTERM, which gives the work `graceMs` to end cleanly; a second signal exits immediately.
 */
export function interruptSignal({ graceMs = GRACE_MS } = {}): AbortSignal {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    const interrupted = new Interrupted(name);
    if (controller.signal.aborted) process.exit(interrupted.exitCode);
    controller.abort(interrupted);
    if (!Number.isFinite(graceMs)) return;
    // Without the listener the work has ended, and only a pager is open.
    const isWorking = () => process.listeners('SIGINT').includes(onSignal);
    setTimeout(() => isWorking() && process.exit(interrupted.exitCode), graceMs).unref();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return controller.signal;
}

/** Abort reason of the signal that `interruptSignal` returns. */
class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** 128 plus the signal number, as shells report it. */
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`);
    this.exitCode = signal === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted;
  }
}

/** The interruption that caused an error, if any: clients wrap the abort reason. */
export function interruptionIn(error: unknown): Interrupted | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (at instanceof Interrupted) return at;
  return undefined;
}
