import { codeOf } from '@porthole/contract';
import { acceptsPages } from '../response/problem-response.ts';
import { parseTarget } from './find-route.ts';
import { type HttpRequest, requestUrl } from './http-exchange.ts';

/**
 * Browsers get a "not found" page of the console for unknown addresses. Pages are public, so this reveals nothing; which
 * API routes exist is shown only to authenticated clients.
 */
export function isUnknownPage(request: HttpRequest, error: unknown, basePath: string | undefined): boolean {
  const code = codeOf(error);
  if (code !== 'ROUTE_NOT_FOUND' && code !== 'UNAUTHENTICATED') return false;
  const { path } = parseTarget(requestUrl(request), basePath);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return isRead && !/^\/(api|metrics)(\/|$)/.test(path) && acceptsPages(request.headers.accept);
}
