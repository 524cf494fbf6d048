import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { type ErrorCode, PortholeError, type RequestClock } from '@porthole/contract';
import { createZone, type LogDir } from '@porthole/logs';
import { shippingMetrics } from '../archive/archive-status.ts';
import type { NodeArchive } from '../archive/node-archive.ts';
import type { NodeOtlp } from '../archive/node-otlp.ts';
import { type Access, TooManyFailures } from '../auth/access.ts';
import type { AccessLog } from '../auth/access-log.ts';
import { clientNetwork, plainAddress } from '../auth/identity.ts';
import type { ReloadedFiles } from '../auth/reloaded-files.ts';
import type { NodeCluster } from '../cluster/node-cluster.ts';
import type { OpenEvents } from '../events/open-events.ts';
import { certificateMetrics, createMetrics, type NodeMetrics } from '../metrics/metrics.ts';
import type { OwnLog } from '../own-log/own-log.ts';
import { isLoopbackHost } from '../settings/find-conflicts.ts';
import type { Settings } from '../settings/settings.ts';
import type { StreamSlots } from './stream-slots.ts';

/** Share of the time until the first byte that counts may use; the rest is for transfer. */
const COUNT_SHARE = 0.9;

/** Limits and checks shared by HTTP and gRPC: a client gains nothing by switching the transport. */
export interface RequestPolicy {
  access: Access;
  accessLog: AccessLog;
  slots: StreamSlots;
  metrics: NodeMetrics;
  /** Counts a request. Throws for a client that exceeds the request rate. `undefined`: there is no limit. */
  checkRate(address: string | undefined): RateState | undefined;
  /** Throws for a request that is not served without credentials; `undefined` if all are, or some are set up. */
  checkLocal: ReturnType<typeof createLocalCheck>;
  /** Called for every request. */
  clock(): RequestClock;
  maxRecords: number;
  searchBudgetMs: number;
  /** For responses that are sent at once, which must be complete before the deadline of the first byte. */
  countBudgetMs: number;
  answerTimeoutMs: number;
  stallTimeoutMs: number;
  isStopping(): boolean;
  /** Fires when the node stops: follows then end with a closing event. */
  stopping: AbortSignal;
  /** Ends all follows with a closing event; they never end by themselves. */
  endFollows(): void;
}

interface RequestPolicyDeps {
  settings: Settings;
  access: Access;
  accessLog: AccessLog;
  /** Credential files that could not be reloaded after a change. */
  reloadedFiles: Pick<ReloadedFiles, 'failures'>;
  logs: LogDir;
  ownLog: OwnLog;
  cluster: Pick<NodeCluster, 'status' | 'gauges'>;
  slots: StreamSlots;
  happened?: Pick<OpenEvents, 'events' | 'tallies'> | undefined;
  archive?: Pick<NodeArchive, 'status'> | undefined;
  otlp?: Pick<NodeOtlp, 'status'> | undefined;
  isStopping(): boolean;
}

export function createRequestPolicy(deps: RequestPolicyDeps): RequestPolicy {
  const { settings, access, accessLog, reloadedFiles, logs, ownLog, cluster, slots, happened, isStopping } = deps;
  const { archive, otlp } = deps;
  const { http, node, search } = settings;
  const stopping = new AbortController();
  // Every follow adds a listener, and there may be as many as streams are allowed.
  setMaxListeners(0, stopping.signal);
  const zone = createZone(node.timeZone);
  return {
    access,
    accessLog,
    slots,
    metrics: createMetrics({
      openStreams: () => slots.taken,
      logs: () => logs.usage,
      ownLog: () => ownLog.stats(),
      cluster: () => cluster.status,
      memberGauges: () => cluster.gauges,
      access: () => ({ failures: access.failures, failingFiles: reloadedFiles.failures.length }),
      events: () => happened && { counts: happened.events.log.counts, logs: happened.tallies.logs() },
      shipping: () => shippingMetrics({ archive: archive?.status, otlp: otlp?.status }),
      certificates: () => certificateMetrics(settings, Date.now()), // clock: ends of certificates
    }),
    checkRate: createRateLimit(http.maxRequestsPerSecond),
    checkLocal: access.isGuarded ? undefined : createLocalCheck(settings),
    clock: () => ({ nowMs: Date.now(), offsetMsAt: zone.offsetMsAt }), // clock: relative times in requests
    maxRecords: search.maxRecords,
    searchBudgetMs: search.budgetMs,
    countBudgetMs: Math.min(search.budgetMs, Math.ceil(http.answerTimeoutMs * COUNT_SHARE)),
    answerTimeoutMs: http.answerTimeoutMs,
    stallTimeoutMs: http.stallTimeoutMs,
    isStopping,
    stopping: stopping.signal,
    endFollows: () => stopping.abort(),
  };
}

/** Maximum number of tracked clients; the least recently seen is evicted. Eviction only ever allows more requests. */
const MAX_CLIENTS = 10_000;

/** How much of its request rate a client has left. */
export interface RateState {
  perSecond: number;
  remaining: number;
}

/** More requests than allowed. */
export class RateExceeded extends PortholeError {
  readonly rate: RateState;

  constructor(perSecond: number) {
    super(
      'RATE_LIMITED',
      `more than ${perSecond} requests a second from one address (IPv6: one /64); see http.max-requests-per-second`,
    );
    this.rate = { perSecond, remaining: 0 };
  }
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/**
 * Token bucket: `perSecond` requests per second and client, with a burst of the same size. 0 means no limit. A client is
 * an address, or the /64 of an IPv6 address. `now` must be monotonic.
 */
export function createRateLimit(
  perSecond: number,
  now: () => number = () => performance.now(),
): RequestPolicy['checkRate'] {
  if (perSecond === 0) return () => undefined;
  const buckets = new Map<string, Bucket>();
  return (address) => {
    const client = clientNetwork(address);
    const time = now();
    const bucket = buckets.get(client) ?? { tokens: perSecond, filledAtMs: time };
    const elapsedMs = Math.max(0, time - bucket.filledAtMs);
    bucket.tokens = Math.min(perSecond, bucket.tokens + (elapsedMs * perSecond) / 1000);
    bucket.filledAtMs = time;
    buckets.delete(client); // re-inserted as the newest
    buckets.set(client, bucket);
    if (buckets.size > MAX_CLIENTS) buckets.delete(buckets.keys().next().value ?? '');
    if (bucket.tokens < 1) throw new RateExceeded(perSecond);
    bucket.tokens--;
    return { perSecond, remaining: Math.floor(bucket.tokens) };
  };
}

/** Within a second a slot is freed or the bucket refilled; restarting a node and creating a bundle take longer. */
const SECONDS: Partial<Record<ErrorCode, number>> = {
  RATE_LIMITED: 1,
  TOO_MANY_STREAMS: 1,
  TOO_MANY_SEARCHES: 1,
  BUNDLE_UNDER_WAY: 10,
  SHUTTING_DOWN: 5,
};

/** When a retry may succeed; `undefined` if unknown. */
export function retryAfterSeconds(thrown: unknown, code: ErrorCode): number | undefined {
  return thrown instanceof TooManyFailures ? thrown.retryAfterSeconds : SECONDS[code];
}

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
interface RequestOrigin {
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
function createLocalCheck({ auth, http }: Settings): ((request: RequestOrigin) => void) | undefined {
  if (auth.allowAnonymous) return undefined;
  const allowed = new Set(http.allowedHosts.map((name) => name.toLowerCase()));
  // Nearly all requests have the same ones, and parsing an address costs more than all other checks.
  let lastAddress: string | undefined;
  let lastHost: string | undefined;
  return ({ address, socket, host, headers }) => {
    if (address === undefined ? !socket : address !== lastAddress) {
      checkAddress(address);
      lastAddress = address;
    }
    // Those of the request are checked, not all of the list: it takes a quarter of the time.
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

/** The name or address in a `Host` header, in lower case. */
export function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](:\d*)?$/.exec(host);
  const name = bracketed?.[1] ?? host.replace(/:\d*$/, '');
  return name.toLowerCase().replace(/\.$/, '');
}
