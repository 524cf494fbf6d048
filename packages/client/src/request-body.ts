import { encodeBodyParameters, PATHS } from '@porthole/contract';
import type { ClientRequest } from './request.ts';

/** Below the default limits of a node for URLs and headers. */
const MAX_URL_CHARACTERS = 6 * 1024;

/** Routes that also accept parameters in a body. */
const POST_PATHS: ReadonlySet<string> = new Set([
  PATHS.logSearch,
  PATHS.logFollow,
  PATHS.clusterLogSearch,
  PATHS.clusterLogFollow,
]);

export const LAST_EVENT_ID = 'last-event-id';

/** Sends parameters and event id in a body if they are too long for a URL and a header. */
export function chooseBody(request: ClientRequest): { method: string; body?: string } {
  const { path, method = 'GET', query = new URLSearchParams(), headers } = request;
  const id = headers?.[LAST_EVENT_ID];
  const length = query.toString().length + (id?.length ?? 0);
  if (method !== 'GET' || length <= MAX_URL_CHARACTERS || !POST_PATHS.has(path)) return { method };
  const all = new URLSearchParams(query);
  if (id !== undefined) all.set('Last-Event-ID', id);
  return { method: 'POST', body: encodeBodyParameters(all) };
}
