import { ERROR_KINDS } from '@porthole/contract';
import type { StrictOptions } from './client-options.ts';
import { ClientError } from './errors/client-error.ts';

/** Statuses of transient failures. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

interface RetryDeps {
  options: Pick<StrictOptions, 'retries' | 'backoffMs' | 'maxBackoffMs'>;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

/** Retries transient failures, up to the limit. */
export async function withRetries<T>(attempt: () => Promise<T>, { options, clock, signal }: RetryDeps): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (failures >= options.retries || !isTransient(error)) throw error;
      await clock.wait(requestedWait(error, options) ?? backoff(failures, { options, clock }), signal);
    }
  }
}

/** A random part of a delay that doubles with each failure, so that many clients do not return at the same time. */
export function backoff(failures: number, { options, clock }: RetryDeps): number {
  return Math.round(clock.random() * Math.min(options.maxBackoffMs, options.backoffMs * 2 ** failures));
}

/** The delay requested by the node, up to our maximum. */
export function requestedWait(error: unknown, { maxBackoffMs }: RetryDeps['options']): number | undefined {
  if (!(error instanceof ClientError) || error.retryAfterMs === undefined) return undefined;
  return Math.min(error.retryAfterMs, maxBackoffMs);
}

/** A timeout is not retried: it would take the same time again. Nor is what the node says will fail again. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  const { code, status = 0 } = error;
  // A code that the node itself responded with; what a proxy sends instead (502) has none.
  const lasts = !error.isRetryable && status === 503 && ERROR_KINDS[code].http === status;
  return code === 'UNREACHABLE' || (TRANSIENT_STATUSES.has(status) && !lasts);
}

/** Time and randomness; tests provide their own. */
export interface Clock {
  /** Epoch ms. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Rejects with the reason of the signal when it aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(), // clock: the time of day next to a clock that does not jump
  random: () => Math.random(),
  wait: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
};
