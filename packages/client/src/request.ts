import { encodeBodyParameters, PATHS, type ResponseBudget } from '@porthole/contract';
import type { StrictOptions } from './client-options.ts';
import type { Clock } from './clock.ts';

/** The variable part of a request. */
export interface ClientRequest {
  /** Path of the route below the base address. */
  path: string;
  /** A GET with parameters too long for a URL is sent as a POST, if the route accepts it. */
  method?: 'GET' | 'HEAD' | 'DELETE';
  query?: URLSearchParams;
  /** JSON, sent by POST. */
  body?: string;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** Overrides the one of the client. */
  responseBudget?: ResponseBudget | undefined;
  /** Added to the timeouts: how long the node may scan before it responds. */
  scanMs?: number;
  /** Maximum size of a whole response; default: that of an item. */
  maxBytes?: number;
  /** Whether a stream must keep a minimum pace; not for a follow, or a search without a budget. */
  isPaced?: boolean;
  /** Whether to wait for the first bytes of the body, too, within the timeout: the head alone is no response. */
  awaitsBody?: boolean;
}

/** What every request needs. */
export interface ClientDeps {
  options: StrictOptions;
  clock: Clock;
  /** Replaces `/api/v1`: the path below which a node forwards requests to one member. */
  pathPrefix?: string;
}

/** Below the default limits of a node for URLs and headers. */
const MAX_URL_CHARACTERS = 6 * 1024;

/** Routes that also accept parameters in a body. */
const POST_PATHS: ReadonlySet<string> = new Set([
  PATHS.logSearch,
  PATHS.logFollow,
  PATHS.logHistogram,
  PATHS.logDigest,
  PATHS.logFields,
  PATHS.logTop,
  PATHS.clusterLogSearch,
  PATHS.clusterLogFollow,
  PATHS.clusterLogHistogram,
  PATHS.clusterLogDigest,
  PATHS.clusterLogFields,
  PATHS.clusterLogTop,
]);

export const LAST_EVENT_ID = 'last-event-id';

/** Sends parameters and event id in a body if they are too long for a URL and a header. */
export function chooseBody(request: ClientRequest): { method: string; body?: string } {
  if (request.body !== undefined) return { method: 'POST', body: request.body };
  const { path, method = 'GET', query = new URLSearchParams(), headers } = request;
  const id = headers?.[LAST_EVENT_ID];
  const length = query.toString().length + (id?.length ?? 0);
  if (method !== 'GET' || length <= MAX_URL_CHARACTERS || !POST_PATHS.has(path)) return { method };
  const all = new URLSearchParams(query);
  if (id !== undefined) all.set('Last-Event-ID', id);
  return { method: 'POST', body: encodeBodyParameters(all) };
}
