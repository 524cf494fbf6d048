import { createClient, type NodeClient } from '@porthole/client';
import { Store } from './store.ts';

const KEY = 'porthole.token';

/** The head of an answer may take so long. Measured here, not by the client: waiting for the user must not count. */
const HEAD_MS = 30_000;

/** The client gives up a question after so long, the time included in which the user looks for a token. */
const REQUEST_MS = 15 * 60_000;

type TokenStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export interface SessionDeps {
  origin: string;
  fetch: typeof fetch;
  /** Where a token may be kept as long as the tab lives; `undefined` where the browser forbids it. */
  storage: TokenStorage | undefined;
}

/**
 * Who asks: the token and the client that uses it. A question that is refused for want of a token waits until one was
 * given and is asked again; who asked only sees that it took longer.
 */
export class Session {
  readonly client: NodeClient;
  /** A token is needed: the dialog is open. */
  readonly isTokenDialogOpen = new Store(false);
  /** The user closed the dialog without a token; nothing asks again until they want to. */
  readonly isDeclined = new Store(false);
  /** The token given last was refused. */
  readonly isRefused = new Store(false);
  readonly hasToken = new Store(false);
  readonly #deps: SessionDeps;
  #token: string | undefined;
  /** Questions that wait for a token. */
  #waiting = new Set<(token: string | undefined) => void>();

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#token = tryStorage(() => deps.storage?.getItem(KEY)) ?? undefined;
    this.hasToken.set(this.#token !== undefined);
    this.client = createClient({
      url: deps.origin,
      fetch: (input, init) => this.#sendRequest(input, init),
      timeoutMs: REQUEST_MS,
    });
  }

  /** As the client asks: with the token, and again with another one where that is refused. For what has no method. */
  fetch(path: string, init?: RequestInit): Promise<Response> {
    return this.#sendRequest(new URL(path, this.#deps.origin), init);
  }

  /** Whether a token could be sent: a header cannot carry everything. */
  canSend(token: string): boolean {
    return /^[\x21-\x7e]+$/.test(token);
  }

  give(token: string, { keep }: { keep: boolean }): void {
    this.#token = token;
    this.isRefused.set(false);
    this.isDeclined.set(false);
    this.hasToken.set(true);
    tryStorage(() => (keep ? this.#deps.storage?.setItem(KEY, token) : this.#deps.storage?.removeItem(KEY)));
    this.#resume(token);
  }

  /** Without a token: what waits fails as the node refused it. */
  decline(): void {
    this.isDeclined.set(true);
    this.#resume(undefined);
  }

  /** Opens the dialog, also after it was closed without a token. */
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
      if (response.status !== 401 || this.isDeclined.value) return response;
      // Another one may have been given meanwhile; this was asked with the old one.
      if (token !== this.#token) continue;
      if (token !== undefined) this.#refuse();
      if ((await this.#nextToken(init.signal ?? undefined)) === undefined) return response;
      await response.body?.cancel();
    }
  }

  #refuse(): void {
    this.#token = undefined;
    this.hasToken.set(false);
    tryStorage(() => this.#deps.storage?.removeItem(KEY));
    this.isRefused.set(true);
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
    const timer = setTimeout(() => late.abort(new Error(`no answer within ${HEAD_MS / 1000} s`)), HEAD_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
    try {
      return await this.#deps.fetch(input, { ...init, headers, signal });
    } finally {
      clearTimeout(timer);
    }
  }
}

function tryStorage<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

export const session = new Session({
  origin: globalThis.window?.location.origin ?? 'http://localhost',
  fetch: (...args) => globalThis.fetch(...args),
  storage: tryStorage(() => globalThis.window?.sessionStorage),
});
