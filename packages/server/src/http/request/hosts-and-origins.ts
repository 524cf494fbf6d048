import type { OutgoingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { fallbackMembers, type Member } from '@porthole/contract';
import { hostName } from '../../transport/request-policy.ts';
import type { HttpRequest } from '../response/http-exchange.ts';
import { HttpRefusal } from '../response/problem-response.ts';
import type { BodyResponse } from '../response/route-response.ts';

/**
 * Refuses host names that are not the node's: a page of another site can make a browser resolve its own name to this
 * address (DNS rebinding) and would then read our responses as its own. IP addresses cannot be rebound and are accepted.
 */
export function createHostCheck(ownNames: readonly string[]): (host: string | undefined) => void {
  const allowed = new Set(['localhost', ...ownNames.filter((name) => name !== '').map((name) => name.toLowerCase())]);
  const isOpen = allowed.has('*');
  // Nearly all requests have the same one, and parsing it costs more than all other checks.
  let lastAllowed: string | undefined;
  return (host) => {
    if (host === undefined || isOpen || host === lastAllowed) return;
    const name = hostName(host);
    if (isIP(name) !== 0 || allowed.has(name) || name.endsWith('.localhost')) {
      lastAllowed = host;
      return;
    }
    throw new HttpRefusal(
      'HOST_NOT_ALLOWED',
      `the host name ${JSON.stringify(name.slice(0, 255))} is not one of this node's; add it to http.allowed-hosts`,
      {},
    );
  };
}

/** What can stand in the head of a page: a name from a registry could end the list and begin another rule. */
const PLAIN_ORIGIN = /^https?:\/\/(\[[\da-f:.]+\]|[a-z\d._-]+)(:\d+)?$/;

const LOOPBACK = /^(127(\.\d+){3}|\[::1\]|localhost)$/;

/** Which other origins may read this node, besides those that are configured: the consoles of other members. */
export interface MemberOrigins {
  /** Whether there can be any. */
  readonly isUsed: boolean;
  has(origin: string): boolean;
  /** Where the page of this node may send requests when this one does not respond. */
  fallbacks(): string[];
}

/**
 * Members, also those that are gone, by their addresses: the page of a node that was killed goes on through this one. It
 * is served by its registered address, or by the name or address that the node reports of itself, with the same port.
 */
export function createMemberOrigins(
  isUsed: boolean,
  members: () => readonly Pick<Member, 'id' | 'isSelf' | 'url' | 'node'>[],
): MemberOrigins {
  const originsOf = ({ url, node: { hostName, hostIp } }: Pick<Member, 'url' | 'node'>) => {
    const { protocol, hostname, port } = new URL(url);
    const local = LOOPBACK.test(hostname) ? ['localhost', '127.0.0.1'] : [];
    const hosts = [hostname, hostName.toLowerCase(), hostIp.includes(':') ? `[${hostIp}]` : hostIp, ...local];
    return hosts
      .map((host) => `${protocol}//${host}${port && `:${port}`}`)
      .filter((origin) => PLAIN_ORIGIN.test(origin));
  };
  return {
    isUsed,
    has: (origin) => isUsed && members().some((member) => originsOf(member).includes(origin)),
    fallbacks: () => [
      ...new Set(
        fallbackMembers(members())
          .map(({ url }) => new URL(url).origin)
          .filter((url) => PLAIN_ORIGIN.test(url)),
      ),
    ],
  };
}

const NO_MEMBERS = createMemberOrigins(false, () => []);

/**
 * Refuses what a page of another site makes a browser send, before anything is done for it: the page could not read the
 * response, but hundreds of searches would run. Browsers send `Sec-Fetch-Site`, no other client does. A page on another
 * port of the same machine is of the same site. Not every browser says which site it is: where something may change, and for
 * a WebSocket, which a page may read from any origin, the origin itself has to be this one or an allowed one.
 */
export function createSiteCheck(
  origins: readonly string[],
  members = NO_MEMBERS,
): (request: Pick<HttpRequest, 'headers' | 'method'>) => void {
  const allowed = new Set(origins);
  return ({ headers: { 'sec-fetch-site': site, origin, upgrade, host }, method }) => {
    const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
    const isRead = /^(?:GET|HEAD|OPTIONS)$/.test(method ?? '') && upgrade === undefined;
    const isOwnOrigin = origin === undefined || origin.replace(/^https?:\/\//, '') === host;
    // A proxy may have changed the host, but browsers know their own site.
    if (isOwnSite && (isRead || isOwnOrigin || (site !== undefined && upgrade === undefined))) return;
    if (origin !== undefined && (allowed.has(origin) || allowed.has('*') || members.has(origin))) return;
    throw new HttpRefusal(
      'ORIGIN_NOT_ALLOWED',
      'a page of another origin made the browser send this request; if it may read this node, add its origin to http.cors-origins',
      {},
    );
  };
}

const EXPOSED =
  'Content-Length, Content-Range, ETag, Last-Modified, RateLimit, RateLimit-Policy, Retry-After, Server-Timing';

/** Headers that let pages of configured origins, and of other members, read responses. */
export function createCors(
  origins: readonly string[],
  members = NO_MEMBERS,
): {
  /** `undefined` while no origin is configured. */
  headersFor(request: HttpRequest): OutgoingHttpHeaders | undefined;
  /** The response to a preflight request; `undefined` for other requests and origins that are not allowed. */
  preflight(request: HttpRequest): BodyResponse | undefined;
} {
  const allowed = new Set(origins);
  const headersFor = ({ headers: { origin } }: HttpRequest): OutgoingHttpHeaders | undefined => {
    if (allowed.size === 0 && !members.isUsed) return undefined;
    if (origin === undefined || !(allowed.has(origin) || allowed.has('*') || members.has(origin)))
      return { vary: 'Origin' };
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
