import type { IncomingMessage } from 'node:http';
import { getRoute, PortholeError, type RouteId, type RouteRole } from '@porthole/contract';
import type { Access, Credentials } from '../../auth/access.ts';
import { plainAddress } from '../../auth/client-network.ts';
import type { DownloadTickets } from '../../auth/download-tickets.ts';
import type { Identity } from '../../auth/identity.ts';
import { HttpRefusal } from '../response/http-refusal.ts';
import type { RouteRequest } from '../response/route-response.ts';
import { findRoute, type RouteTarget } from './find-route.ts';
import { parseTarget } from './request-target.ts';

const CHALLENGE = { 'www-authenticate': 'Bearer realm="porthole"' };

/** What a browser saves to disk by a link, which carries no token: a ticket may stand for it. */
export const TICKETED: ReadonlySet<RouteId> = new Set(['logRaw', 'clusterLogDownload']);

/** Bounds on what is let in; settings give the numbers. */
export interface RequestGate {
  maxUrlBytes: number;
  access: Access;
  tickets: DownloadTickets;
  /** Whether metrics need credentials. */
  protectsMetrics: boolean;
  checkHost(host: string | undefined): void;
  checkRate(address: string | undefined): void;
  isStopping(): boolean;
}

/** What the gate finds out of a request, as far as it gets: also of one that it refuses. */
export interface RequestContext {
  target: RouteTarget | undefined;
  query: URLSearchParams;
  identity: Identity | undefined;
}

/** A request that was let in. */
export interface AuthorizedRequest {
  target: RouteTarget;
  method: RouteRequest['method'] | 'POST';
}

/** Decides, in this order: size, rate, host, route, credentials, role, method. Throws what the client is told. */
export async function authorizeRequest(
  request: IncomingMessage,
  gate: RequestGate,
  arrival: RequestContext,
): Promise<AuthorizedRequest> {
  const { url = '/', headers } = request;
  if (url.length > gate.maxUrlBytes) {
    throw new PortholeError(
      'URL_TOO_LONG',
      `the URL is longer than ${gate.maxUrlBytes} bytes, the limit set by http.max-url-bytes`,
    );
  }
  gate.checkRate(request.socket.remoteAddress);
  const { path, query, authority } = parseTarget(url);
  arrival.query = query;
  if (headers.host === undefined && request.httpVersion === '1.1') {
    throw new PortholeError('BAD_REQUEST', 'the header "Host" is missing');
  }
  if (hasTwoHosts(request)) throw new PortholeError('BAD_REQUEST', 'there is more than one header "Host"');
  if (!gate.access.isGuarded) gate.checkHost(authority ?? headers.host);
  const target = findRoute(path);
  arrival.target = target;
  const role = requiredRole(target, gate);
  const credentials = readCredentials(request);
  // Only where one is taken; the header counts where there is both.
  if (credentials.authorization === undefined && target && TICKETED.has(target.route) && query.has('ticket')) {
    credentials.authorization = gate.tickets.redeem(url);
    query.delete('ticket');
  }
  await authenticate(credentials, role, { gate, arrival });
  if (target === undefined) throw new PortholeError('ROUTE_NOT_FOUND', 'no such route; /docs lists them');
  const method = checkMethod(request, target);
  if (gate.isStopping() && getRoute(target.route).role !== 'none')
    throw new PortholeError('SHUTTING_DOWN', 'the node is stopping');
  return { target, method };
}

function checkMethod({ method = '' }: IncomingMessage, { route }: RouteTarget): AuthorizedRequest['method'] {
  const { method: only, post } = getRoute(route);
  if (only !== undefined) {
    if (method === only) return only;
    throw new HttpRefusal('METHOD_NOT_ALLOWED', `this route takes ${only} only`, { allow: only });
  }
  if (method === 'GET' || method === 'HEAD' || (post && method === 'POST')) return method;
  const allow = post ? 'GET, HEAD, POST' : 'GET, HEAD';
  throw new HttpRefusal('METHOD_NOT_ALLOWED', `this route is read-only: use ${allow}`, { allow });
}

/** Node takes the first and a proxy before it may have taken the last. Names and values stand in turns. */
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}

/** Which routes there are is told to those who are known. */
function requiredRole(target: RouteTarget | undefined, { protectsMetrics }: RequestGate): RouteRole {
  if (target === undefined) return 'any';
  return target.route === 'metrics' && !protectsMetrics ? 'none' : getRoute(target.route).role;
}

export function readCredentials({ headers, socket }: IncomingMessage): Credentials {
  return { authorization: headers.authorization, socket, address: plainAddress(socket.remoteAddress) };
}

async function authenticate(
  credentials: Credentials,
  role: RouteRole,
  { gate, arrival }: { gate: RequestGate; arrival: RequestContext },
): Promise<void> {
  const found = gate.access.authenticate(credentials);
  const verdict = found instanceof Promise ? await found : found;
  if ('identity' in verdict) arrival.identity = verdict.identity;
  try {
    gate.access.authorize(verdict, role, {
      credentials: credentials,
      where: 'the header "Authorization: Bearer TOKEN"',
    });
  } catch (error) {
    if (!(error instanceof PortholeError) || error.code !== 'UNAUTHENTICATED') throw error;
    throw new HttpRefusal('UNAUTHENTICATED', error.message, CHALLENGE);
  }
}
