import { PortholeError } from '@porthole/contract';
import { clientNetwork } from '../auth/client-network.ts';

/** Maximum number of tracked clients; the least recently seen is evicted. Eviction only ever allows more requests. */
const MAX_CLIENTS = 10_000;

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/**
 * Token bucket: `perSecond` requests per second and client, with a burst of the same size. 0 means no limit. A client is
 * an address, or the /64 of an IPv6 address. `now` must be monotonic.
 */
export function createRateLimit(
  perSecond: number,
  now: () => number = () => performance.now(),
): (address: string | undefined) => void {
  if (perSecond === 0) return () => {};
  const buckets = new Map<string, Bucket>();
  return (address) => {
    const client = clientNetwork(address);
    const time = now();
    const bucket = buckets.get(client) ?? { tokens: perSecond, filledAtMs: time };
    const elapsedMs = Math.max(0, time - bucket.filledAtMs);
    bucket.tokens = Math.min(perSecond, bucket.tokens + (elapsedMs * perSecond) / 1000);
    bucket.filledAtMs = time;
    buckets.delete(client); // re-inserted as the newest
    buckets.set(client, bucket);
    if (buckets.size > MAX_CLIENTS) buckets.delete(buckets.keys().next().value ?? '');
    if (bucket.tokens < 1) {
      const message = `more than ${perSecond} requests a second from one address (IPv6: one /64); see http.max-requests-per-second`;
      throw new PortholeError('RATE_LIMITED', message);
    }
    bucket.tokens--;
  };
}
