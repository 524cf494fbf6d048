import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { BodyResponse } from '../response/route-response.ts';

const EXPOSED = 'Content-Length, Content-Range, ETag, Last-Modified, Retry-After';

/** Headers that let pages of configured origins read responses. */
export function createCors(origins: readonly string[]): {
  /** `undefined` while no origin is configured. */
  headersFor(request: IncomingMessage): OutgoingHttpHeaders | undefined;
  /** The response to a preflight request; `undefined` for other requests and origins that are not allowed. */
  preflight(request: IncomingMessage): BodyResponse | undefined;
} {
  const allowed = new Set(origins);
  const headersFor = ({ headers: { origin } }: IncomingMessage): OutgoingHttpHeaders | undefined => {
    if (allowed.size === 0) return undefined;
    if (origin === undefined || !(allowed.has(origin) || allowed.has('*'))) return { vary: 'Origin' };
    return { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
  };
  return {
    headersFor,
    preflight(request) {
      const requestedMethod = request.method === 'OPTIONS' && request.headers['access-control-request-method'];
      const headers = headersFor(request);
      if (!requestedMethod || !headers?.['access-control-allow-origin']) return undefined;
      const grants = {
        'access-control-allow-methods': 'GET, HEAD, POST',
        'access-control-allow-headers': 'Authorization, Content-Type, If-None-Match, If-Range, Last-Event-ID, Range',
        'access-control-max-age': '600',
      };
      return { status: 204, headers: { ...headers, ...grants }, body: '' };
    },
  };
}
