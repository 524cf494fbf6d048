import type { ErrorCode } from '@porthole/contract';

/** A second frees a slot or fills the bucket; a stopping node that comes back needs longer. */
const SECONDS: Partial<Record<ErrorCode, number>> = {
  RATE_LIMITED: 1,
  TOO_MANY_STREAMS: 1,
  TOO_MANY_SEARCHES: 1,
  SHUTTING_DOWN: 5,
};

/** After how long asking again may help; `undefined` where that cannot be said. */
export function retryAfterSeconds(code: ErrorCode): number | undefined {
  return SECONDS[code];
}
