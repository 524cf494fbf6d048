import type { LookupFunction } from 'node:net';
import { type FetchFunction, type FetchInit, type FetchResponse, PortholeError } from '@porthole/contract';
import { unneeded } from '@porthole/logs/shared';
import type { Agent, Dispatcher } from 'undici';

/** Members send few and short headers. */
const MAX_HEADER_BYTES = 16 * 1024;

const OVER: Part = { done: true };

/** Bytes that wait for the reader before the connection is paused. */
const MAX_WAITING_BYTES = 64 * 1024;

/** The reader gets so much of a long body at once: every chunk of a stream has costs of its own. */
const MAX_JOINED_BYTES = 256 * 1024;

/** The same for all responses together: with many members the chunks are as they come. */
const ALL_JOINED_BYTES = 1024 * 1024;

/** A chunk of a long body: more of it has probably come. */
const MIN_LONG_BYTES = 32 * 1024;

/** TLS files for members with https. */
export interface MemberTls {
  /** The authority that signed their certificates. */
  ca: Buffer | undefined;
  /** The client certificate of this node. */
  cert: Buffer | undefined;
  key: Buffer | undefined;
}

export interface MemberFetch {
  fetch: FetchFunction;
  /** For new connections; running requests continue. */
  renew(tls: MemberTls): void;
}

/** A `fetch` for members, with this node's certificate and authorities, to addresses that `lookup` allows. */
export async function createMemberFetch(tls: MemberTls, lookup: LookupFunction): Promise<MemberFetch> {
  // All of undici takes three times as long to load, most of it for the `fetch` that is not used here.
  // owner: the agent reports every failure to the handler of a request (in the same file)
  const { default: DialAgent } = await import('undici/lib/dispatcher/agent.js');
  const dial = ({ ca, cert, key }: MemberTls) =>
    new DialAgent({
      connect: { lookup, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
      maxHeaderSize: MAX_HEADER_BYTES,
    });
  let dispatcher: Agent = dial(tls);
  return {
    fetch: createDispatchFetch(() => dispatcher),
    renew(renewed) {
      const old = dispatcher;
      dispatcher = dial(renewed);
      void unneeded(old.close()); // responses that are cut fail by themselves
    },
  };
}

type Body = NonNullable<FetchResponse['body']>;
type Part = Awaited<ReturnType<ReturnType<Body['getReader']>['read']>>;

/**
 * A `fetch` with what members are asked with: no redirects, no decoding, no streams of the web, which take most of the time of
 * a short request. `agent` is looked up for each.
 */
export function createDispatchFetch(agent: () => Dispatcher): FetchFunction {
  const responses = { open: 0 };
  return async (url, init) => {
    init.signal.throwIfAborted();
    const { origin, pathname, search } = new URL(url);
    const { method, headers, body = null } = init;
    return new Promise((resolve, reject) => {
      const handler = new ResponseHandler(init, { resolve, reject }, responses);
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
  /** Gives what waits to the reader once all that has come was read. */
  #joining: NodeJS.Immediate | undefined;
  /** Counts the responses of all that use the same `fetch`. */
  readonly #responses: { open: number };
  #isOpen = false;

  constructor({ signal }: Pick<FetchInit, 'signal'>, head: Settle<FetchResponse>, responses: { open: number }) {
    this.#signal = signal;
    this.#head = head;
    this.#responses = responses;
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
    // Decoded nowhere, it would be taken for the text itself, in which no secret is found.
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      this.#fail(new PortholeError('BAD_ANSWER', 'the response is compressed, which was not requested'));
      return;
    }
    if (!this.#isOver && !this.#failure && !this.#isOpen) {
      this.#isOpen = true;
      this.#responses.open++;
    }
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
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (!this.#reading) {
      if (this.#waitingBytes >= MAX_WAITING_BYTES) controller.pause();
      return;
    }
    const isLong = chunk.length >= MIN_LONG_BYTES && this.#waitingBytes < this.#mostJoined;
    if (isLong) this.#joining ??= setImmediate(() => this.#give());
    else this.#give();
  }

  onResponseEnd(): void {
    this.#isOver = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#release();
    this.#give();
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    // As that of Node.js: what failed is the cause.
    this.#fail(new TypeError(this.#head ? 'fetch failed' : 'terminated', { cause }));
  }

  get #mostJoined(): number {
    return Math.min(MAX_JOINED_BYTES, ALL_JOINED_BYTES / this.#responses.open);
  }

  /** All that waits, if somebody reads. */
  #give(): void {
    const reading = this.#reading;
    if (!reading) return;
    clearImmediate(this.#joining);
    this.#joining = undefined;
    const value = this.#take();
    if (!value && !this.#isOver) return;
    this.#reading = undefined;
    reading.resolve(value ? { done: false, value } : OVER);
  }

  #take(): Uint8Array | undefined {
    const waiting = this.#waiting;
    const [only] = waiting;
    if (!only) return undefined;
    const value = waiting.length === 1 ? only : Buffer.concat(waiting, this.#waitingBytes);
    this.#waiting = [];
    this.#waitingBytes = 0;
    return value;
  }

  async #read(): Promise<Part> {
    const value = this.#take();
    if (value) {
      if (this.#controller?.paused) this.#controller.resume();
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

  /** It is over, or has failed. */
  #release(): void {
    clearImmediate(this.#joining);
    this.#joining = undefined;
    if (this.#isOpen) this.#responses.open--;
    this.#isOpen = false;
  }

  #fail(reason: unknown): void {
    if (this.#isOver || this.#failure) return;
    this.#failure = { reason };
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#release();
    this.#head?.reject(reason);
    this.#head = undefined;
    // What came before it comes first.
    this.#give();
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
