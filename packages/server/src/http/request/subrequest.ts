import { FetchResponse } from '../embedded/fetch-response.ts';
import type { SubrequestInit } from '../response/route-response.ts';
import type { RequestHandler } from './handle-request.ts';
import { type HttpRequest, remoteAddress } from './http-exchange.ts';

/** The request that a subrequest is part of. */
interface OuterRequest {
  request: HttpRequest;
  source: unknown;
  stallTimeoutMs: number;
}

/** Handles a request of the same client, with its credentials and on its connection, like any that arrives. */
export function sendSubrequest(
  onRequest: RequestHandler,
  { request, source, stallTimeoutMs }: OuterRequest,
  url: string,
  { signal, ...init }: SubrequestInit,
): Promise<Response> {
  const response = new FetchResponse({ isHead: false, stallTimeoutMs });
  const leave = () => response.destroy();
  signal.addEventListener('abort', leave, { once: true });
  response.once('close', () => signal.removeEventListener('abort', leave));
  onRequest(toSubrequest(request, url, init), response, source);
  return response.response;
}

/** Headers that describe the outer request only. */
const OUTER = /^(content-|accept|mcp-|transfer-|if-|sec-|range$|origin$|expect$)/;

function toSubrequest(
  outer: HttpRequest,
  url: string,
  { method, headers, body }: Omit<SubrequestInit, 'signal'>,
): HttpRequest {
  const { pathname, search } = new URL(url);
  const kept = Object.entries(outer.headers).filter(([name]) => !OUTER.test(name));
  return {
    method,
    url: pathname + search,
    httpVersion: '1.1',
    headers: { ...Object.fromEntries(kept), ...headers },
    rawHeaders: [],
    socket: outer.socket,
    address: remoteAddress(outer),
    body,
    async *[Symbol.asyncIterator]() {},
  };
}
