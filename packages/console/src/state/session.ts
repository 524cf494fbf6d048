import { type Client, type ClusterNode, createClient } from '@porthole/client';
import { fallbackMembers } from '@porthole/contract';
import { Shared } from '@porthole/logs/shared';
import { Store, tryStorage } from './store.ts';
import { nodeUrl } from './view-url.ts';

const KEY = 'porthole.token';

/**
 * Timeout for response headers. Measured here, not by the client: time the user takes to enter a token must not count.
 */
const HEAD_MS = 30_000;

/** Timeout of a request in the client, including the time the user takes to enter a token. */
const REQUEST_MS = 15 * 60_000;

/** How long a node may take to say that it is alive, and how often one that is not is asked. */
const PROBE_MS = 2000;

/** A node by its name and address, without a slash at the end. */
interface Address {
  id: string;
  url: string;
}

type TokenStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export interface SessionDeps {
  url: string;
  fetch: typeof fetch;
  /** Keeps a token for the lifetime of the tab; `undefined` if the browser forbids it. */
  storage: TokenStorage | undefined;
}

/**
 * The token and the client that uses it. A request that fails for lack of a token waits until one is entered and is
 * then repeated; its caller only notices the delay. If the node of this page does not respond, requests go through
 * another member; follows continue at their cursors.
 */
export class Session {
  readonly client: Client;
  /** A token is required: the dialog is open. */
  readonly isTokenDialogOpen = new Store(false);
  /** The user closed the dialog without a token; it does not open again by itself. */
  readonly isDeclined = new Store(false);
  /** Why the last token was rejected: `expired` if it had worked before. */
  readonly rejection = new Store<'invalid' | 'expired' | null>(null);
  readonly hasToken = new Store(false);
  /** The member that requests go through, while the node of this page does not respond. */
  readonly via = new Store<Address | null>(null);
  /** The member that would do, but is not sent the token before somebody agrees. */
  readonly offered = new Store<Address | null>(null);
  /** The node of this page, by its name once it is known. */
  home: Address;
  #fallbacks: readonly Address[] = [];
  #agreed = new Set<string>();
  readonly #search = new Shared<void>({ keepMs: PROBE_MS });
  readonly #deps: SessionDeps;
  #token: string | undefined;
  #wasAccepted: boolean;
  #waiting = new Set<(token: string | undefined) => void>();

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.home = { id: 'The node', url: deps.url };
    this.#token = tryStorage(() => deps.storage?.getItem(KEY)) ?? undefined;
    this.#wasAccepted = this.#token !== undefined;
    this.hasToken.set(this.#wasAccepted);
    this.client = createClient({
      url: deps.url,
      fetch: (input, init) => this.#sendRequest(input, init),
      timeoutMs: REQUEST_MS,
    });
  }

  /** Sends a request like the client does, for routes without a client method. */
  fetch(path: string, init?: RequestInit): Promise<Response> {
    return this.#sendRequest(this.#deps.url + path, init);
  }

  /** Where requests go now. */
  get url(): string {
    return this.via.value?.url ?? this.home.url;
  }

  /** Learns the other members while the node of this page responds: its page may send requests to these only. */
  learn(nodes: readonly ClusterNode[]): void {
    const self = nodes.find(({ isSelf }) => isSelf);
    if (this.via.value || !self) return;
    this.home = { ...this.home, id: self.id };
    // One that its node cannot reach may still respond to this browser.
    const members = fallbackMembers(nodes.filter(({ state }) => state !== 'left' && state !== 'failed'));
    const usable = members.sort((a, b) => Number(b.state === 'up') - Number(a.state === 'up'));
    this.#fallbacks = usable.map(({ id, url }) => ({ id, url: url.replace(/\/$/, '') }));
  }

  /** Sends the token to the offered member, too. */
  agree(): void {
    const member = this.offered.value;
    if (member) this.#agreed.add(member.url);
    this.#go(member);
  }

  /** Returns to the node of this page once it responds again. Running follows stay where they are. */
  async goHome(): Promise<void> {
    if ((this.via.value || this.offered.value) && (await this.#isAlive(this.home))) this.#go(null);
  }

  #go(member: Address | null): void {
    this.offered.set(null);
    this.via.set(member);
  }

  /** Looks for a member that responds instead of the one at this address. Returns whether requests go elsewhere now. */
  async #leave(url: string): Promise<boolean> {
    if (this.url === url) await this.#search.run(() => this.#findOther(url));
    return this.url !== url;
  }

  async #findOther(url: string): Promise<void> {
    const failed = { id: '', url };
    const others = [this.home, ...this.#fallbacks].filter((member) => member.url !== url);
    if (others.length === 0) return;
    const [isAlive, ...alive] = await Promise.all([failed, ...others].map((member) => this.#isAlive(member)));
    const found = isAlive ? undefined : others.find((_, index) => alive[index]);
    if (found === this.home) this.#go(null);
    else if (found && (this.#token === undefined || this.#agreed.has(found.url))) this.#go(found);
    else if (found) this.offered.set(found);
  }

  async #isAlive({ url }: Address): Promise<boolean> {
    try {
      const { ok } = await this.#deps.fetch(`${url}/health/live`, {
        cache: 'no-store',
        signal: AbortSignal.timeout(PROBE_MS),
      });
      return ok;
    } catch {
      return false; // whatever the reason, it cannot be used
    }
  }

  /** Whether a header can carry the token. */
  canSend(token: string): boolean {
    return /^[\x21-\x7e]+$/.test(token);
  }

  give(token: string, { keep }: { keep: boolean }): void {
    this.#token = token;
    this.#wasAccepted = false;
    this.rejection.set(null);
    this.isDeclined.set(false);
    this.hasToken.set(true);
    tryStorage(() => (keep ? this.#deps.storage?.setItem(KEY, token) : this.#deps.storage?.removeItem(KEY)));
    this.#resume(token);
  }

  /** Without a token, waiting requests fail with the original 401. */
  decline(): void {
    this.isDeclined.set(true);
    this.#resume(undefined);
  }

  /** Forgets the token; the next request asks for one where the node requires it. */
  signOut(): void {
    this.#token = undefined;
    this.#wasAccepted = false;
    this.hasToken.set(false);
    tryStorage(() => this.#deps.storage?.removeItem(KEY));
  }

  /** Opens the dialog, also after it was declined. */
  openTokenDialog(): void {
    this.isDeclined.set(false);
    this.isTokenDialogOpen.set(true);
  }

  #resume(token: string | undefined): void {
    this.isTokenDialogOpen.set(false);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of waiting) resume(token);
  }

  async #sendRequest(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
    for (;;) {
      const token = this.#token;
      const response = await this.#sendAnywhere(String(input), init, token);
      if (response.status !== 401) this.#wasAccepted ||= token !== undefined && token === this.#token;
      if (response.status !== 401 || this.isDeclined.value) return response;
      // Another token was entered meanwhile; this request used the old one.
      if (token !== this.#token) continue;
      if (token !== undefined) this.#reject();
      if ((await this.#nextToken(init.signal ?? undefined)) === undefined) return response;
      await response.body?.cancel();
    }
  }

  #reject(): void {
    this.#token = undefined;
    this.hasToken.set(false);
    tryStorage(() => this.#deps.storage?.removeItem(KEY));
    this.rejection.set(this.#wasAccepted ? 'expired' : 'invalid');
  }

  #nextToken(signal: AbortSignal | undefined): Promise<string | undefined> {
    this.isTokenDialogOpen.set(true);
    return new Promise((resolve, reject) => {
      const resume = (token: string | undefined) => {
        signal?.removeEventListener('abort', leave);
        resolve(token);
      };
      const leave = () => {
        this.#waiting.delete(resume);
        reject(signal?.reason);
      };
      this.#waiting.add(resume);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /** What changes something is not repeated: it may have been done. */
  async #sendAnywhere(input: string, init: RequestInit, token: string | undefined): Promise<Response> {
    for (;;) {
      const { url } = this;
      try {
        return await this.#send(url + input.slice(this.#deps.url.length), init, token);
      } catch (error) {
        if (init.signal?.aborted || !(await this.#leave(url)) || /PUT|DELETE/.test(init.method ?? '')) throw error;
      }
    }
  }

  async #send(input: string, init: RequestInit, token: string | undefined): Promise<Response> {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(`no response within ${HEAD_MS / 1000} s`)), HEAD_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
    try {
      return await this.#deps.fetch(input, { ...init, headers, signal });
    } finally {
      clearTimeout(timer);
    }
  }
}

export const session = new Session({
  url: globalThis.window ? nodeUrl(globalThis.window.location) : 'http://localhost',
  fetch: (...args) => globalThis.fetch(...args),
  storage: tryStorage(() => globalThis.window?.sessionStorage),
});
