import type { ErrorCode } from '@porthole/contract';
import { TooManyFailures } from '../auth/failure-limit.ts';

/** A second frees a slot or fills the bucket; a stopping node that comes back, and a bundle, need longer. */
const SECONDS: Partial<Record<ErrorCode, number>> = {
  RATE_LIMITED: 1,
  TOO_MANY_STREAMS: 1,
  TOO_MANY_SEARCHES: 1,
  BUNDLE_UNDER_WAY: 10,
  SHUTTING_DOWN: 5,
};

/** After how long asking again may help; `undefined` where that cannot be said. */
export function retryAfterSeconds(thrown: unknown, code: ErrorCode): number | undefined {
  return thrown instanceof TooManyFailures ? thrown.retryAfterSeconds : SECONDS[code];
}
