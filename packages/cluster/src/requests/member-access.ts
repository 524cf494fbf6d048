import {
  type FetchFunction,
  type FetchResponse,
  type Member,
  type MembershipState,
  PATHS,
  PortholeError,
} from '@porthole/contract';
import { unneeded } from '@porthole/logs/shared';
import { readMemberAddress } from '../membership/member-address.ts';
import { createMemberNetworks, type MemberNetworks } from '../membership/member-networks.ts';

/** Bytes to read of a health response. */
const MAX_PROBE_BYTES = 1024;

const UNAUTHORIZED = 401;

/** Settings for contacting members. */
export interface MemberAccessOptions {
  /** Used instead of the global fetch. Its connections resolve names with `networks`. */
  fetch?: FetchFunction | undefined;
  /** The current cluster token. */
  token?: (() => string | undefined) | undefined;
  /** Networks in which members may be. */
  networks?: MemberNetworks | undefined;
  /** Refuse members without TLS. */
  httpsOnly?: boolean | undefined;
  /** The setting that enables TLS on this node, if set: tokens are then never sent over plain HTTP. */
  tlsSetting?: string | undefined;
}

/**
 * Decides whether a member is contacted and with which credentials; no other code adds any. No token is sent to a LinDB
 * node, to a member without TLS if this node uses TLS, or to a member known only by address that does not respond like a
 * Porthole node.
 */
export class MemberAccess {
  readonly #options: MemberAccessOptions;
  readonly #networks: MemberNetworks;
  readonly #kind: () => MembershipState['kind'];

  /** `kind`: the source of the members. */
  constructor(options: MemberAccessOptions, kind: () => MembershipState['kind']) {
    this.#options = options;
    this.#networks = options.networks ?? createMemberNetworks();
    this.#kind = kind;
  }

  /** Returns how to contact a member. Throws MEMBER_REFUSED if it must not be contacted. */
  fetchFor({ url }: Pick<Member, 'url'>): FetchFunction {
    const { isTls, host } = readMemberAddress(url);
    this.#networks.check(host);
    const { fetch: fetchMember = globalThis.fetch, httpsOnly, tlsSetting } = this.#options;
    if (!isTls && httpsOnly)
      throw new PortholeError(
        'MEMBER_REFUSED',
        `${url} is not contacted: its address is not https (cluster.https-only)`,
      );
    const send = retryWhenCut(fetchMember);
    const token = () => this.#options.token?.();
    const kind = this.#kind();
    if (kind === 'lindb') return send;
    if (!isTls && tlsSetting !== undefined) return withoutToken(send, { url, tlsSetting, token });
    return withToken(send, { url, token, isPorthole: kind === 'etcd' });
  }
}

interface TokenOptions {
  url: string;
  token(): string | undefined;
  /** Registered as a Porthole node; other members are known only by address. */
  isPorthole: boolean;
}

/** Adds the token after the member was recognized as a Porthole node. */
function withToken(send: FetchFunction, { url, token, isPorthole }: TokenOptions): FetchFunction {
  let isKnown = isPorthole;
  return async (input, init) => {
    const secret = token();
    if (secret === undefined) return send(input, init);
    const headers = { ...init.headers, authorization: `Bearer ${secret}` };
    const authorized = () => send(input, { ...init, headers });
    isKnown ||= await looksLikePorthole(send, url, init.signal);
    if (isKnown) return authorized();
    const response = await send(input, init);
    // A proxy may hide the health check; this is how a Porthole node rejects missing credentials.
    if (response.status !== UNAUTHORIZED || !isProblem(response)) return response;
    await response.body?.getReader().cancel();
    isKnown = true;
    return authorized();
  };
}

/** Explains why a member that requires credentials does not get them. */
function withoutToken(
  send: FetchFunction,
  { url, tlsSetting, token }: Pick<TokenOptions, 'url' | 'token'> & { tlsSetting: string },
): FetchFunction {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.status !== UNAUTHORIZED || token() === undefined) return response;
    await response.body?.getReader().cancel();
    const why = `no token is sent to an http address where this node uses TLS (${tlsSetting})`;
    throw new PortholeError('UNAUTHENTICATED', `${url} requires credentials, and ${why}; register it with https`);
  };
}

/** Uses the health check, which needs no credentials. Errors are ignored here: the request itself reports them. */
async function looksLikePorthole(send: FetchFunction, url: string, signal: AbortSignal): Promise<boolean> {
  const head = { method: 'GET', headers: {}, redirect: 'manual', cache: 'no-store' } as const;
  const response = await send(`${url}${PATHS.live}`, { ...head, signal });
  const reader = response.body?.getReader();
  try {
    return response.status === 200 && /^\{"status":"\w+"\}$/.test(await firstBytes(reader));
  } finally {
    await unneeded(reader?.cancel()); // the connection may be gone already; nothing more is read
  }
}

async function firstBytes(
  reader: ReturnType<NonNullable<FetchResponse['body']>['getReader']> | undefined,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (let left = MAX_PROBE_BYTES; left > 0; ) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || !value) break;
    left -= value.length;
    text += decoder.decode(value, { stream: true });
  }
  return text.slice(0, MAX_PROBE_BYTES).trim();
}

function isProblem({ headers }: Pick<FetchResponse, 'headers'>): boolean {
  return headers.get('content-type')?.startsWith('application/problem+json') ?? false;
}

/** Error codes of a connection that the peer closed before responding. */
const CUT_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * A fetch that retries once if the connection was closed before the response began: the member may close an idle keep-alive
 * connection just as it is reused. Only for idempotent requests.
 */
function retryWhenCut(send: FetchFunction): FetchFunction {
  return async (input, init) => {
    try {
      return await send(input, init);
    } catch (error) {
      if (init.signal.aborted || !wasCut(error)) throw error;
      return send(input, init);
    }
  };
}

function wasCut(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && CUT_CODES.has(String(cause.code));
}
