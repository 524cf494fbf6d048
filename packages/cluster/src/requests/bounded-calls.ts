import { setMaxListeners } from 'node:events';
import { type CallOptions, PortholeError } from '@porthole/contract';

/** Requests that listen to one signal. Not 0, for no limit: `fetch` would throw, because `getMaxListeners` of Node.js 20 does. */
export const MAX_LISTENERS = 100_000;

export interface Deadline extends CallOptions {
  timeoutMs: number;
}

/**
 * Settles like `act`, or rejects with DEADLINE_EXCEEDED or the reason of the signal, whichever comes first, even if `act`
 * ignores its signal; its late result is dropped.
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
    if (signal) setMaxListeners(MAX_LISTENERS, signal);
    signal?.addEventListener('abort', onAbort, { once: true });
    const acting = (async () => act(controller.signal))();
    acting.finally(settle).then(resolve, reject);
  });
}

export function deadlineExceeded(timeoutMs: number): PortholeError {
  return new PortholeError('DEADLINE_EXCEEDED', `no response within ${Math.round(timeoutMs)} ms`);
}

/** Runs an async function over all items with bounded concurrency. Results are in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  maxParallel: number,
  act: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  // All workers share one iterator.
  const waiting = items.entries();
  const workOn = async () => {
    for (const [index, item] of waiting) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(maxParallel, items.length) }, workOn));
  return results;
}
