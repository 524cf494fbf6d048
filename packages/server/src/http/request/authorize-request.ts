import { getRoute, PortholeError, ROUTE_IDS, type RouteId, type RouteRole } from '@porthole/contract';
import type { Access, Credentials } from '../../auth/access.ts';
import type { DownloadTickets } from '../../auth/download-tickets.ts';
import { type AuthResult, type Identity, plainAddress } from '../../auth/identity.ts';
import type { RateState, RequestPolicy } from '../../transport/request-policy.ts';
import { type HttpRequest, remoteAddress, requestUrl } from '../response/http-exchange.ts';
import { HttpRefusal } from '../response/problem-response.ts';
import type { RouteRequest } from '../response/route-response.ts';
import { findRoute, parseTarget, type RouteTarget } from './find-route.ts';

const CHALLENGE = { 'www-authenticate': 'Bearer realm="porthole"' };

/** Downloads by a link, which carries no token: a ticket can replace it. */
export const TICKETED: ReadonlySet<RouteId> = new Set(['logRaw', 'logDownload']);

/** The checks of a request, with limits from the settings. */
export interface RequestGate {
  /** All routes are below it: `/ops`. Empty: the root. */
  basePath?: string;
  maxUrlBytes: number;
  access: Access;
  tickets: DownloadTickets;
  /** Whether metrics need credentials. */
  protectsMetrics: boolean;
  checkHost(host: string | undefined): void;
  /** Throws for a request that is not served without credentials; `undefined` if all are, or some are set up. */
  checkLocal?: RequestPolicy['checkLocal'];
  /** Throws for a request that a page of another site made a browser send. */
  checkSite(request: Pick<HttpRequest, 'headers' | 'method'>): void;
  /** Requests come through the server of a program, which has checked their paths, too. */
  isMounted?: boolean;
  checkRate(address: string | undefined): RateState | undefined;
  isStopping(): boolean;
}

/** What is known of a request, also of one that is refused. */
export interface RequestContext {
  target: RouteTarget | undefined;
  /** The query as written, without the question mark. */
  search: string;
  /** The parameters of `search`, and later those of the body. */
  readonly query: URLSearchParams;
  /** Whether `query` was read, and may have more parameters than `search`. */
  readonly hasQuery: boolean;
  identity: Identity | undefined;
  /** The request as the program that embeds the node has it. */
  source: unknown;
  /** If requests are limited. */
  rate: RateState | undefined;
}

/** A request that passed all checks. */
export interface AuthorizedRequest {
  target: RouteTarget;
  method: RouteRequest['method'] | 'POST' | 'PUT';
}

/**
 * Checks, in this order: size, rate, host, route, site, credentials, role, method. Throws the error for the client. Returns a
 * promise only if the credentials need one: waiting costs a short response more than the checks.
 */
export function authorizeRequest(
  request: HttpRequest,
  gate: RequestGate,
  context: RequestContext,
): AuthorizedRequest | Promise<AuthorizedRequest> {
  const { headers } = request;
  const url = requestUrl(request);
  if (url.length > gate.maxUrlBytes) {
    throw new PortholeError(
      'URL_TOO_LONG',
      `the URL is longer than ${gate.maxUrlBytes} bytes, the limit set by http.max-url-bytes; routes for records also take parameters by POST`,
    );
  }
  context.rate = gate.checkRate(remoteAddress(request));
  const { path, search, authority, target: ownTarget } = parseTarget(url, gate.basePath);
  context.search = search;
  if (headers.host === undefined && request.httpVersion === '1.1') {
    throw new PortholeError('BAD_REQUEST', 'the "Host" header is missing');
  }
  if (authority !== undefined && gate.isMounted) {
    // A server that compares paths sees none in such a target, and would not apply its rules for this one.
    throw new PortholeError('BAD_REQUEST', 'the request target is a whole URL: send the path alone');
  }
  checkSingleHeaders(request);
  const host = authority ?? headers.host;
  if (!gate.access.isGuarded) gate.checkHost(host);
  const target = findRoute(path, request.method);
  context.target = target;
  const role = requiredRole(target, gate);
  if (role !== 'none') gate.checkLocal?.({ address: remoteAddress(request), socket: request.socket, host, headers });
  if (target && !isPage(target)) gate.checkSite(request);
  const credentials = readCredentials(request, context.source);
  // Only on routes that accept tickets; a header takes precedence.
  if (credentials.authorization === undefined && target && TICKETED.has(target.route) && context.query.has('ticket')) {
    if (context.query.getAll('ticket').length > 1)
      throw new PortholeError('BAD_REQUEST', 'there is more than one ticket');
    credentials.authorization = gate.tickets.redeem(ownTarget);
    context.query.delete('ticket');
  }
  const checked = { request, gate, context, credentials, role };
  const verdict = gate.access.authenticate(credentials);
  return verdict instanceof Promise ? verdict.then((found) => admit(found, checked)) : admit(verdict, checked);
}

interface CheckedRequest {
  request: HttpRequest;
  gate: RequestGate;
  context: RequestContext;
  credentials: Credentials;
  role: RouteRole;
}

function admit(verdict: AuthResult, { request, gate, context, credentials, role }: CheckedRequest): AuthorizedRequest {
  if ('identity' in verdict) context.identity = verdict.identity;
  checkRole(verdict, role, { gate, credentials });
  return checkTarget(request, context.target, gate);
}

function checkTarget(request: HttpRequest, target: RouteTarget | undefined, gate: RequestGate): AuthorizedRequest {
  if (target === undefined)
    throw new PortholeError('ROUTE_NOT_FOUND', `no such route; see ${gate.basePath ?? ''}/docs`);
  const method = checkMethod(request, target);
  if (gate.isStopping() && getRoute(target.route).role !== 'none')
    throw new PortholeError('SHUTTING_DOWN', 'the node is stopping');
  return { target, method };
}

function checkMethod({ method = '' }: HttpRequest, { route }: RouteTarget): AuthorizedRequest['method'] {
  const { method: only, path, post } = getRoute(route);
  if (only !== undefined) {
    if (method === only) return only;
    const allow = ROUTE_IDS.flatMap((id) => (getRoute(id).path === path ? (getRoute(id).method ?? []) : [])).join(', ');
    throw new HttpRefusal('METHOD_NOT_ALLOWED', `this route supports only ${allow}`, { allow });
  }
  if (method === 'GET' || method === 'HEAD' || (post && method === 'POST')) return method;
  const allow = post ? 'GET, HEAD, POST' : 'GET, HEAD';
  throw new HttpRefusal('METHOD_NOT_ALLOWED', `this route is read-only: use ${allow}`, { allow });
}

/** Two values joined into one header, as the Fetch standard does it. Other schemes than ours have commas, too. */
const JOINED_CREDENTIALS = /,\s*[a-z][\w-]*\s+\S/i;

/** Throws if the host or the credentials are ambiguous: Node uses the first of two headers, a proxy may have used the last. */
function checkSingleHeaders({ rawHeaders, headers: { host, authorization } }: HttpRequest): void {
  const repeated =
    findRepeated(rawHeaders) ??
    (host?.includes(',') ? 'Host' : undefined) ??
    (authorization?.includes(',') && JOINED_CREDENTIALS.test(authorization) ? 'Authorization' : undefined);
  if (repeated) throw new PortholeError('BAD_REQUEST', `there is more than one "${repeated}" header`);
}

/** `rawHeaders` alternates names and values. */
export function findRepeated(rawHeaders: readonly string[]): 'Host' | 'Authorization' | undefined {
  let hosts = 0;
  let credentials = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name?.length === 13 && name.toLowerCase() === 'authorization') credentials++;
  }
  if (hosts > 1) return 'Host';
  return credentials > 1 ? 'Authorization' : undefined;
}

/** What links of other sites may lead to: nothing is read for it. */
function isPage({ route }: RouteTarget): boolean {
  return route === 'docs' || getRoute(route).role === 'none';
}

/** Unknown routes require credentials: which routes exist is not public. */
function requiredRole(target: RouteTarget | undefined, { protectsMetrics }: RequestGate): RouteRole {
  if (target === undefined) return 'any';
  return target.route === 'metrics' && !protectsMetrics ? 'none' : getRoute(target.route).role;
}

/** `source` is the request as the program that embeds the node has it. */
export function readCredentials(request: HttpRequest, source: unknown): Credentials {
  const { headers, socket, method = '' } = request;
  const address = plainAddress(remoteAddress(request));
  const describe = () => ({ transport: 'http' as const, method, url: requestUrl(request), headers, address, source });
  return { authorization: headers.authorization, socket, address, describe };
}

function checkRole(
  verdict: AuthResult,
  role: RouteRole,
  { gate, credentials }: { gate: RequestGate; credentials: Credentials },
): void {
  try {
    gate.access.authorize(verdict, role, {
      credentials,
      where: 'the header "Authorization: Bearer TOKEN"',
    });
  } catch (error) {
    if (!(error instanceof PortholeError) || error.code !== 'UNAUTHENTICATED') throw error;
    throw new HttpRefusal('UNAUTHENTICATED', error.message, CHALLENGE);
  }
}
