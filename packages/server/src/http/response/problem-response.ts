import type { OutgoingHttpHeaders } from 'node:http';
import { type ErrorCode, PortholeError, toProblem } from '@porthole/contract';
import { retryAfterSeconds } from '../../transport/request-policy.ts';
import type { BodyResponse } from './route-response.ts';

/** The parts of a request that decide the form of an error. */
export interface ErrorReader {
  accept?: string | undefined;
  /** The request target. */
  url?: string | undefined;
}

/** The one place where an error becomes an HTTP response. */
export function problemResponse(thrown: unknown, { accept, url = '' }: ErrorReader = {}): BodyResponse {
  const problem = toProblem(thrown);
  const retryAfter = retryAfterSeconds(thrown, problem.code);
  const extra = {
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(thrown instanceof HttpRefusal && thrown.headers),
  };
  const asText = { 'content-type': 'text/plain; charset=utf-8', ...extra };
  if (isFromLindbProxy(url)) return { status: problem.status, headers: asText, body: problem.detail };
  if (wantsOnlyText(accept))
    return { status: problem.status, headers: asText, body: `${problem.code}: ${problem.detail}\n` };
  const headers = { 'content-type': 'application/problem+json; charset=utf-8', ...extra };
  return { status: problem.status, headers, body: JSON.stringify(problem) };
}

/** Whether the client accepts plain text, but no problem document. */
function wantsOnlyText(accept: string | undefined): boolean {
  if (!accept) return false;
  const types = accept.split(',').map((part) => part.split(';', 1)[0]?.trim().toLowerCase());
  return types.includes('text/plain') && types.every((type) => type?.startsWith('text/'));
}

/**
 * Whether the request is from LinDB's console through the proxy of a broker, which passes on its own two parameters. The
 * console renders the body of an error as a child of its page, and a JSON object there leaves the whole page blank. This
 * parses the URL itself, because some errors occur before the query is parsed.
 */
function isFromLindbProxy(url: string): boolean {
  const mark = url.indexOf('?');
  if (mark < 0) return false;
  const query = new URLSearchParams(url.slice(mark + 1));
  return query.has('target') && query.has('path');
}

/** An error with additional headers (`Allow`, `Retry-After`, ...). */
export class HttpRefusal extends PortholeError {
  readonly headers: OutgoingHttpHeaders;

  constructor(code: ErrorCode, message: string, headers: OutgoingHttpHeaders) {
    super(code, message);
    this.headers = headers;
  }
}

/** Whether a browser opens a page: scripts and command line tools do not accept HTML explicitly. */
export function acceptsPages(accept = ''): boolean {
  return accept.split(',').some((part) => part.split(';', 1)[0]?.trim().toLowerCase() === 'text/html');
}
