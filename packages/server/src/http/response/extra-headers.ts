import type { OutgoingHttpHeaders } from 'node:http';
import type { RouteId } from '@porthole/contract';
import type { RateState } from '../../transport/request-policy.ts';
import type { RouteResponse } from './route-response.ts';

/* Headers about the handling of a request, besides those of its route. Most responses have none. */

/** Routes that may take long: those that scan logs or wait for members. */
const TIMED: ReadonlySet<RouteId> = new Set<RouteId>([
  'logSearch',
  'logHistogram',
  'logDigest',
  'logFields',
  'logTop',
  'clusterNodes',
  'clusterConfig',
  'clusterConfigDiff',
  'clusterLogFiles',
  'clusterLogSearch',
  'clusterLogHistogram',
  'clusterLogDigest',
  'clusterLogFields',
  'clusterLogTop',
  'clusterLogMoment',
]);

/** When a request was received and when its route began. */
export interface RouteTimes {
  receivedMs: number;
  begunMs: number;
}

/**
 * `Server-Timing`: `queue` is what came before the route (credentials, a body), `scan` the whole of a response that is sent
 * at once, `open` of a stream what it took to begin.
 */
export function timingHeaders(
  route: RouteId,
  { receivedMs, begunMs }: RouteTimes,
  response: RouteResponse,
): OutgoingHttpHeaders | undefined {
  if (!TIMED.has(route)) return undefined;
  const work = 'stream' in response ? 'open' : 'scan';
  const durations = { queue: begunMs - receivedMs, [work]: performance.now() - begunMs };
  const entries = Object.entries(durations).map(([name, ms]) => `${name};dur=${Math.max(0, ms).toFixed(1)}`);
  return { 'server-timing': entries.join(', ') };
}

/** The fields of draft-ietf-httpapi-ratelimit-headers; the bucket of a client is full again within a second. */
export function rateHeaders(rate: RateState | undefined): OutgoingHttpHeaders | undefined {
  if (rate === undefined) return undefined;
  const { perSecond, remaining } = rate;
  return { 'ratelimit-policy': `"requests";q=${perSecond};w=1`, ratelimit: `"requests";r=${remaining};t=1` };
}

/** The response with further headers, of which there may be none; the values of `Vary` are joined. */
export function withHeaders(
  response: RouteResponse,
  first: OutgoingHttpHeaders | undefined,
  second?: OutgoingHttpHeaders,
  third?: OutgoingHttpHeaders,
): RouteResponse {
  // Most have none, and this is done for every response.
  if (first === undefined && second === undefined && third === undefined) return response;
  const headers = { ...response.headers, ...first, ...second, ...third };
  const varied = [response.headers.vary, first?.vary].filter((part) => part !== undefined);
  return { ...response, headers: varied.length === 0 ? headers : { ...headers, vary: varied.join(', ') } };
}
