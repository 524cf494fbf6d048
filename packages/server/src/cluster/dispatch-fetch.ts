import type { FetchFunction, FetchInit, FetchResponse } from '@porthole/contract';
import type { Dispatcher } from 'undici';

type Body = NonNullable<FetchResponse['body']>;
type Part = Awaited<ReturnType<ReturnType<Body['getReader']>['read']>>;

const OVER: Part = { done: true };

/** Bytes that wait for the reader before the connection is paused. */
const MAX_WAITING_BYTES = 64 * 1024;

/**
 * A `fetch` with what members are asked with: no redirects, no decoding, no streams of the web, which take most of the time of
 * a short request. `agent` is looked up for each.
 */
export function createDispatchFetch(agent: () => Dispatcher): FetchFunction {
  return async (url, init) => {
    init.signal.throwIfAborted();
    const { origin, pathname, search } = new URL(url);
    const { method, headers, body = null } = init;
    return new Promise((resolve, reject) => {
      const handler = new ResponseHandler(init, { resolve, reject });
      const request = { origin, path: `${pathname}${search}`, method, headers, body };
      agent().dispatch(request as Dispatcher.DispatchOptions, handler);
    });
  };
}

interface Settle<T> {
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** Receives one response. */
class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.#fail(this.#signal.reason);
  #head: Settle<FetchResponse> | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #reading: Settle<Part> | undefined;
  /** The body is complete, or it was cancelled. */
  #isOver = false;
  #failure: { reason: unknown } | undefined;

  constructor({ signal }: Pick<FetchInit, 'signal'>, head: Settle<FetchResponse>) {
    this.#signal = signal;
    this.#head = head;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It was aborted before there was a connection.
    if (this.#failure) controller.abort(toError(this.#failure.reason));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Only informational: the response follows.
    if (status < 200) return;
    const reader = { read: () => this.#read(), cancel: async () => this.#cancel() };
    const head = this.#head;
    this.#head = undefined;
    head?.resolve({
      status,
      ok: status < 300,
      type: 'default',
      headers: { get: (name) => toText(headers[name.toLowerCase()]) },
      body: { getReader: () => reader },
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#isOver || this.#failure) return;
    const reading = this.#reading;
    this.#reading = undefined;
    if (reading) {
      reading.resolve({ done: false, value: chunk });
      return;
    }
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes >= MAX_WAITING_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    this.#isOver = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#reading?.resolve(OVER);
    this.#reading = undefined;
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    // As that of Node.js: what failed is the cause.
    this.#fail(new TypeError(this.#head ? 'fetch failed' : 'terminated', { cause }));
  }

  async #read(): Promise<Part> {
    const value = this.#waiting.shift();
    if (value) {
      this.#waitingBytes -= value.length;
      if (this.#controller?.paused && this.#waitingBytes < MAX_WAITING_BYTES) this.#controller.resume();
      return { done: false, value };
    }
    if (this.#failure) throw this.#failure.reason;
    if (this.#isOver) return OVER;
    return new Promise((resolve, reject) => {
      this.#reading = { resolve, reject };
    });
  }

  #cancel(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#isOver || this.#failure) return;
    this.onResponseEnd();
    this.#controller?.abort(new Error('the response is not read any further'));
  }

  #fail(reason: unknown): void {
    if (this.#isOver || this.#failure) return;
    this.#failure = { reason };
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#head?.reject(reason);
    this.#head = undefined;
    this.#reading?.reject(reason);
    this.#reading = undefined;
    this.#controller?.abort(toError(reason));
  }
}

function toText(value: string | string[] | undefined): string | null {
  return Array.isArray(value) ? value.join(', ') : (value ?? null);
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
