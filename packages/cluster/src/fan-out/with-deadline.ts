import { type CallOptions, PortholeError } from '@porthole/contract';

export interface Deadline extends CallOptions {
  timeoutMs: number;
}

/**
 * What `act` gives, or DEADLINE_EXCEEDED, or the signal's reason, whichever is first: also where `act` does not listen to
 * the signal it is given. That one is left behind; whatever it still says is not heard.
 */
export function withDeadline<T>(act: (signal: AbortSignal) => Promise<T>, { timeoutMs, signal }: Deadline): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const controller = new AbortController();
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const giveUp = (reason: unknown) => {
      settle();
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = () => giveUp(signal?.reason);
    const timer = setTimeout(() => giveUp(deadlineExceeded(timeoutMs)), timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    const asking = (async () => act(controller.signal))();
    asking.finally(settle).then(resolve, reject);
  });
}

export function deadlineExceeded(timeoutMs: number): PortholeError {
  return new PortholeError('DEADLINE_EXCEEDED', `no answer within ${Math.round(timeoutMs)} ms`);
}
