import { createClient, type NodeClient } from '@porthole/client';
import { Store, tryStorage } from './store.ts';
import { nodeUrl } from './view-url.ts';

const KEY = 'porthole.token';

/**
 * Timeout for response headers. Measured here, not by the client: time the user takes to enter a token must not count.
 */
const HEAD_MS = 30_000;

/** Timeout of a request in the client, including the time the user takes to enter a token. */
const REQUEST_MS = 15 * 60_000;

type TokenStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export interface SessionDeps {
  /** The URL of the node. */
  url: string;
  fetch: typeof fetch;
  /** Keeps a token for the lifetime of the tab; `undefined` if the browser forbids it. */
  storage: TokenStorage | undefined;
}

/**
 * The token and the client that uses it. A request that fails for lack of a token waits until one is entered and is
 * then repeated; its caller only notices the delay.
 */
export class Session {
  readonly client: NodeClient;
  /** A token is required: the dialog is open. */
  readonly isTokenDialogOpen = new Store(false);
  /** The user closed the dialog without a token; it does not open again by itself. */
  readonly isDeclined = new Store(false);
  /** Why the last token was rejected: `expired` if it had worked before. */
  readonly rejection = new Store<'invalid' | 'expired' | null>(null);
  readonly hasToken = new Store(false);
  readonly #deps: SessionDeps;
  #token: string | undefined;
  #wasAccepted: boolean;
  /** Requests that wait for a token. */
  #waiting = new Set<(token: string | undefined) => void>();

  constructor(deps: SessionDeps) {
    this.#deps = deps;
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
      const response = await this.#send(input, init, token);
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

  async #send(input: RequestInfo | URL, init: RequestInit, token: string | undefined): Promise<Response> {
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
