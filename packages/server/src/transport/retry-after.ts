import type { ErrorCode } from '@porthole/contract';
import { TooManyFailures } from '../auth/failure-limit.ts';

/** Within a second a slot is freed or the bucket refilled; restarting a node and creating a bundle take longer. */
const SECONDS: Partial<Record<ErrorCode, number>> = {
  RATE_LIMITED: 1,
  TOO_MANY_STREAMS: 1,
  TOO_MANY_SEARCHES: 1,
  BUNDLE_UNDER_WAY: 10,
  SHUTTING_DOWN: 5,
};

/** When a retry may succeed; `undefined` if unknown. */
export function retryAfterSeconds(thrown: unknown, code: ErrorCode): number | undefined {
  return thrown instanceof TooManyFailures ? thrown.retryAfterSeconds : SECONDS[code];
}
