import { type Member, type MembershipState, PATHS, PortholeError } from '@porthole/contract';
import { createMemberNetworks, type MemberNetworks } from '../membership/member-networks.ts';
import { readAddress } from '../membership/member-url.ts';
import { retryWhenCut } from './retry-when-cut.ts';

/** What is read of a response that only shows who responds. */
const MAX_PROBE_BYTES = 1024;

const UNAUTHORIZED = 401;

/** What the settings say about contacting members. */
export interface MemberAccessOptions {
  /** Used instead of the global one. Its connections resolve names by `networks`. */
  fetch?: typeof fetch | undefined;
  /** The cluster token, as its file has it now. */
  token?: (() => string | undefined) | undefined;
  /** Addresses that members may have. */
  networks?: MemberNetworks | undefined;
  /** Members without TLS are not contacted. */
  httpsOnly?: boolean | undefined;
  /** The setting by which this node uses TLS, if it does: then no token is sent without. */
  tlsSetting?: string | undefined;
}

/**
 * Decides whether a member is contacted, and what credentials it gets: the only place that adds any. No token goes to a
 * LinDB node, to a member without TLS where this node uses TLS, or to one of which only an address is known and that
 * does not respond as a Porthole node.
 */
export class MemberAccess {
  readonly #options: MemberAccessOptions;
  readonly #networks: MemberNetworks;
  readonly #kind: () => MembershipState['kind'];

  /** `kind`: where the members come from. */
  constructor(options: MemberAccessOptions, kind: () => MembershipState['kind']) {
    this.#options = options;
    this.#networks = options.networks ?? createMemberNetworks();
    this.#kind = kind;
  }

  /** How a member is contacted. Throws MEMBER_REFUSED for one that is not. */
  fetchFor({ url }: Pick<Member, 'url'>): typeof fetch {
    const { isTls, host } = readAddress(url);
    this.#networks.check(host);
    const { fetch: ask = globalThis.fetch, httpsOnly, tlsSetting } = this.#options;
    if (!isTls && httpsOnly)
      throw new PortholeError(
        'MEMBER_REFUSED',
        `${url} is not contacted: its address is not https (cluster.https-only)`,
      );
    const send = retryWhenCut(ask);
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
  /** It registered itself as a Porthole node; of others only an address is known. */
  isPorthole: boolean;
}

/** Adds the token once the member has shown that it is a Porthole node. */
function withToken(send: typeof fetch, { url, token, isPorthole }: TokenOptions): typeof fetch {
  let isKnown = isPorthole;
  return async (input, init) => {
    const secret = token();
    if (secret === undefined) return send(input, init);
    const headers = { ...Object.fromEntries(new Headers(init?.headers)), authorization: `Bearer ${secret}` };
    const authorized = () => send(input, { ...init, headers });
    isKnown ||= await looksLikePorthole(send, url, init?.signal);
    if (isKnown) return authorized();
    const response = await send(input, init);
    // Health checks may not be reachable through a proxy; then this is how a Porthole node refuses.
    if (response.status !== UNAUTHORIZED || !isProblem(response)) return response;
    await response.body?.cancel();
    isKnown = true;
    return authorized();
  };
}

/** Says why where a member asks for credentials that it does not get. */
function withoutToken(
  send: typeof fetch,
  { url, tlsSetting, token }: Pick<TokenOptions, 'url' | 'token'> & { tlsSetting: string },
): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.status !== UNAUTHORIZED || token() === undefined) return response;
    await response.body?.cancel();
    const why = `no token is sent to an http address where this node uses TLS (${tlsSetting})`;
    throw new PortholeError('UNAUTHENTICATED', `${url} asks for credentials, and ${why}: register it with https`);
  };
}

/** By its health check, which needs no credentials; what fails here fails with the request itself. */
async function looksLikePorthole(
  send: typeof fetch,
  url: string,
  signal: AbortSignal | null | undefined,
): Promise<boolean> {
  const response = await send(`${url}${PATHS.live}`, { redirect: 'manual', ...(signal && { signal }) });
  try {
    return response.status === 200 && /^\{"status":"\w+"\}$/.test(await firstBytes(response));
  } finally {
    await response.body?.cancel().catch(() => {}); // it is not of interest any more
  }
}

async function firstBytes(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (let left = MAX_PROBE_BYTES; left > 0; ) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done || !value) break;
      left -= value.length;
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    reader?.releaseLock();
  }
  return text.slice(0, MAX_PROBE_BYTES).trim();
}

function isProblem({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('application/problem+json') ?? false;
}
