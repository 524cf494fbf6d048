import { ClientError } from './client-error.ts';
import type { StrictOptions } from './client-options.ts';
import type { Clock } from './clock.ts';

/** Statuses of answers that asking again may change. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

export interface RetryDeps {
  options: Pick<StrictOptions, 'retries' | 'backoffMs' | 'maxBackoffMs'>;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

/** Tries until it succeeds, fails for good, or has failed often enough. */
export async function withRetries<T>(attempt: () => Promise<T>, { options, clock, signal }: RetryDeps): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (failures >= options.retries || !isTransient(error)) throw error;
      const asked = requestedWait(error, options);
      await clock.wait(asked ?? backoff(failures, { options, clock }), signal);
    }
  }
}

/** Up to twice as long with each failure, by chance, so that many clients do not come back at the same moment. */
export function backoff(failures: number, { options, clock }: RetryDeps): number {
  return Math.round(clock.random() * Math.min(options.maxBackoffMs, options.backoffMs * 2 ** failures));
}

/** How long the node asked to be left alone, as far as we are willing to wait. */
export function requestedWait(error: unknown, { maxBackoffMs }: RetryDeps['options']): number | undefined {
  if (!(error instanceof ClientError) || error.retryAfterMs === undefined) return undefined;
  return Math.min(error.retryAfterMs, maxBackoffMs);
}

/** A node that does not answer in time is not asked again: it would take the same time once more. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  return error.code === 'UNREACHABLE' || TRANSIENT_STATUSES.has(error.status ?? 0);
}
