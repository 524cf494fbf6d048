import { PortholeError } from '@porthole/contract';
import { clientNetwork } from './client-network.ts';

const MINUTE_MS = 60_000;

/** Maximum number of tracked networks; the one that failed first is evicted. */
const MAX_NETWORKS = 10_000;

/** The error for clients that fail to authenticate too often. */
export class TooManyFailures extends PortholeError {
  readonly retryAfterSeconds: number;
  /** The first one of this minute: only that one is logged, so that a flood does not fill the access log. */
  readonly isFirst: boolean;

  constructor(perMinute: number, { retryAfterSeconds, isFirst }: { retryAfterSeconds: number; isFirst: boolean }) {
    const message = `more than ${perMinute} requests a minute without valid credentials from one address (IPv6: one /64); see auth.max-failures-per-minute`;
    super('RATE_LIMITED', message);
    this.retryAfterSeconds = retryAfterSeconds;
    this.isFirst = isFirst;
  }
}

/**
 * Counts failed attempts of a client; throws if there were more in a minute than allowed. 0 means no limit. `now` must be
 * monotonic.
 */
export function createFailureLimit(
  perMinute: number,
  now: () => number = () => performance.now(),
): (address: string) => void {
  if (perMinute === 0) return () => {};
  const networks = new Map<string, { failures: number; sinceMs: number }>();
  return (address) => {
    const network = clientNetwork(address);
    const timeMs = now();
    let seen = networks.get(network);
    if (!seen || timeMs - seen.sinceMs >= MINUTE_MS) {
      networks.delete(network); // inserted anew as the newest
      seen = { failures: 0, sinceMs: timeMs };
      networks.set(network, seen);
      if (networks.size > MAX_NETWORKS) networks.delete(networks.keys().next().value ?? '');
    }
    seen.failures++;
    if (seen.failures <= perMinute) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((seen.sinceMs + MINUTE_MS - timeMs) / 1000));
    throw new TooManyFailures(perMinute, { retryAfterSeconds, isFirst: seen.failures === perMinute + 1 });
  };
}
