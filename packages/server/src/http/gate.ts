import type { IncomingMessage } from 'node:http';
import { PortholeError, routeOf } from '@porthole/contract';
import { bearerOwner } from '../auth/bearer.ts';
import type { TokenCheck } from '../auth/tokens.ts';
import { findRoute, type RouteTarget } from './find-route.ts';
import { HttpRefusal } from './http-refusal.ts';
import { parseTarget } from './request-target.ts';

/** Bounds on what is let in; settings give the numbers. */
export interface GateOptions {
  maxUrlBytes: number;
  tokens: TokenCheck | undefined;
  checkHost(host: string | undefined): void;
  checkRate(client: string): void;
  isStopping(): boolean;
}

/** A request that was let in. */
export interface Admitted {
  target: RouteTarget;
  query: URLSearchParams;
  method: 'GET' | 'HEAD';
  /** Whether the one who asks may see everything: no token is needed here, or theirs is good. */
  trusted: boolean;
}

/** Decides, in this order: size, rate, host, route, credentials, method. Throws what the client is told. */
export function admit(request: IncomingMessage, gate: GateOptions): Admitted {
  const { url = '/', headers } = request;
  if (url.length > gate.maxUrlBytes) {
    throw new PortholeError(
      'URL_TOO_LONG',
      `the URL is longer than ${gate.maxUrlBytes} bytes, the limit set by http.max-url-bytes`,
    );
  }
  gate.checkRate(request.socket.remoteAddress ?? '');
  const { path, query, authority } = parseTarget(url);
  if (headers.host === undefined && request.httpVersion === '1.1') {
    throw new PortholeError('BAD_REQUEST', 'the header "Host" is missing');
  }
  if (!gate.tokens) gate.checkHost(authority ?? headers.host);
  const target = findRoute(path);
  const isOpen = target !== undefined && routeOf(target.route).open;
  const trusted = !gate.tokens || bearerOwner(headers.authorization, gate.tokens) !== undefined;
  if (!trusted && !isOpen) {
    const message = headers.authorization
      ? 'the token is not known to this node'
      : 'this node needs a token: send the header "Authorization: Bearer TOKEN"';
    throw new HttpRefusal('UNAUTHENTICATED', message, { 'www-authenticate': 'Bearer realm="porthole"' });
  }
  if (target === undefined) throw new PortholeError('ROUTE_NOT_FOUND', 'no such route; /docs lists them');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new HttpRefusal('METHOD_NOT_ALLOWED', 'this interface is read-only: use GET or HEAD', { allow: 'GET, HEAD' });
  }
  if (gate.isStopping() && !isOpen) throw new PortholeError('SHUTTING_DOWN', 'the node is stopping');
  return { target, query, method: request.method, trusted };
}
