import type { Socket } from 'node:net';
import { PortholeError } from '@porthole/contract';
import { plainAddress } from '../auth/client-network.ts';
import { hostName } from '../http/request/hosts-and-origins.ts';
import { isLoopbackHost } from '../settings/find-conflicts.ts';
import type { Settings } from '../settings/settings.ts';

/** With these, proxies, load balancers and content networks say that they pass on a request of somebody else. */
const FORWARDING_HEADERS: ReadonlySet<string> = new Set([
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-original-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'cf-connecting-ip',
  'fastly-client-ip',
  'true-client-ip',
]);

const WAYS_OUT =
  ': set up credentials (auth.token-file, or "authenticate" of the program that embeds it), or auth.allow-anonymous';

/** Where a request comes from, over any transport. */
export interface RequestOrigin {
  /** `undefined` on Unix sockets, and for `fetch` without an address. */
  address: string | undefined;
  socket: Socket | undefined;
  /** The name the client asked for, with or without a port. */
  host: string | undefined;
  headers: Readonly<Record<string, unknown>>;
}

/**
 * Without credentials a node serves its own machine alone. An address of this machine is not enough: that is also where
 * the requests of everybody come from who can reach a proxy on it. Throws for all others; `undefined`: everyone is served.
 */
export function createLocalCheck({ auth, http }: Settings): ((request: RequestOrigin) => void) | undefined {
  if (auth.allowAnonymous) return undefined;
  const allowed = new Set(http.allowedHosts.map((name) => name.toLowerCase()));
  // Nearly all requests have the same ones, and looking at an address costs more than all other checks.
  let lastAddress: string | undefined;
  let lastHost: string | undefined;
  return ({ address, socket, host, headers }) => {
    if (address === undefined ? !socket : address !== lastAddress) {
      checkAddress(address);
      lastAddress = address;
    }
    // Those of the request are looked at, not all of the list: it takes a quarter of the time.
    for (const name in headers)
      if (FORWARDING_HEADERS.has(name))
        throw refusal('FORBIDDEN', `and the header "${name}" says that a proxy passed this one on`);
    if (host === undefined || host === lastHost) return;
    checkName(hostName(host), allowed);
    lastHost = host;
  };
}

function checkAddress(address: string | undefined): void {
  if (address === undefined) throw refusal('FORBIDDEN', 'and fetch() was not given the address of the client');
  if (!isLoopbackHost(plainAddress(address))) throw refusal('FORBIDDEN', 'and this request comes from another one');
}

function checkName(name: string, allowed: ReadonlySet<string>): void {
  if (isLoopbackHost(name) || name.endsWith('.localhost') || allowed.has(name) || allowed.has('*')) return;
  const shown = JSON.stringify(name.slice(0, 255));
  const what = `and a request for ${shown} may have been passed on by a proxy (http.allowed-hosts)`;
  throw refusal('HOST_NOT_ALLOWED', what);
}

function refusal(code: 'FORBIDDEN' | 'HOST_NOT_ALLOWED', what: string): PortholeError {
  return new PortholeError(code, `without credentials this node serves only its own machine, ${what}${WAYS_OUT}`);
}
