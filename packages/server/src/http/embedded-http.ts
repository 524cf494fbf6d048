import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net'; // owner: creates nothing: looks whether an object is a socket
import { ReaderStalled } from '../errors.ts';
import type { RequestHandler } from './request/handle-request.ts';
import { FetchResponse, type HttpRequest, type HttpResponse } from './response/http-exchange.ts';

/** What the host knows of a request besides the request itself. */
export interface FetchContext {
  /** IP address of the client: limits are counted by it, and only this machine is served without credentials. */
  address?: string | undefined;
  /** The request as the framework has it, for `authenticate`; the `Request` by default. */
  source?: unknown;
}

export interface HandlerContext {
  /** The request as the framework has it, for `authenticate`; Node's request by default. */
  source?: unknown;
}

/** The node as a part of another server. */
export interface EmbeddedHttp {
  /** A handler of `node:http`, Connect and Express. It responds to every request; `next` of Connect is not called. */
  handler(
    request: IncomingMessage,
    response: ServerResponse,
    context?: HandlerContext | ((error?: unknown) => void),
  ): void;
  /** The response to a request of the Fetch standard. Rejects only if the request is aborted before the response begins. */
  fetch(request: Request, context?: FetchContext): Promise<Response>;
}

/** Middleware replaces these to compress or to save sessions, and then drops the callbacks that report what was flushed. */
const REPLACED = ['writeHead', 'write', 'end', 'flushHeaders'] as const;

export class EmbeddedResponses implements EmbeddedHttp {
  readonly #onRequest: RequestHandler;
  readonly #stallTimeoutMs: number;
  readonly #open = new Set<HttpResponse>();
  #whenIdle: (() => void) | undefined;

  constructor(onRequest: RequestHandler, { stallTimeoutMs }: { stallTimeoutMs: number }) {
    this.#onRequest = onRequest;
    this.#stallTimeoutMs = stallTimeoutMs;
  }

  readonly handler: EmbeddedHttp['handler'] = (request, response, context) => {
    // Pipelined behind another one, it begins when it is its turn: if the client leaves before, it never learns of that.
    const isWaiting = response.socket === null && request.socket instanceof Socket;
    if (isWaiting) response.once('socket', () => this.#begin(request, response, context));
    else this.#begin(request, response, context);
  };

  readonly fetch: EmbeddedHttp['fetch'] = (request, { address, source = request } = {}) => {
    const isHead = request.method === 'HEAD';
    const response = new FetchResponse({ isHead, stallTimeoutMs: this.#stallTimeoutMs });
    const onAbort = () => response.destroy(request.signal.reason);
    if (request.signal.aborted) onAbort();
    request.signal.addEventListener('abort', onAbort, { once: true });
    response.once('close', () => request.signal.removeEventListener('abort', onAbort));
    this.#track(response);
    this.#onRequest(toHttpRequest(request, address), response, source);
    return response.response;
  };

  /** Waits up to `drainMs` for running responses, then cuts the rest. */
  async close(drainMs: number): Promise<void> {
    if (this.#open.size === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
    });
    const cut = setTimeout(() => {
      for (const response of this.#open) response.destroy();
      // Whatever the host has done to one of them, the node does not wait for it any longer.
      setImmediate(() => this.#whenIdle?.());
    }, drainMs);
    await idle;
    clearTimeout(cut);
  }

  #begin(...[request, response, context]: Parameters<EmbeddedHttp['handler']>): void {
    for (const method of REPLACED) if (Object.hasOwn(response, method)) Reflect.deleteProperty(response, method);
    this.#endStalled(response);
    this.#track(response);
    const source = typeof context === 'object' ? context.source : undefined;
    this.#onRequest(request, response, source ?? request);
  }

  #track(response: HttpResponse): void {
    if (response.closed) return;
    this.#open.add(response);
    response.on('close', () => {
      this.#open.delete(response);
      if (this.#open.size === 0) this.#whenIdle?.();
    });
  }

  /** As our own server does it: bytes wait for the client, so it has stalled; a quiet follow has none. */
  #endStalled(response: ServerResponse): void {
    const { socket } = response;
    const before = socket?.timeout;
    response.setTimeout(this.#stallTimeoutMs, () => {
      if (response.writableLength > 0) response.destroy(new ReaderStalled());
    });
    // The connection may go on to serve the host.
    response.once('close', () => {
      if (socket && !socket.destroyed) socket.setTimeout(before ?? 0);
    });
  }
}

function toHttpRequest(request: Request, address: string | undefined): HttpRequest {
  const { pathname, search, host } = new URL(request.url);
  return {
    method: request.method,
    url: pathname + search,
    httpVersion: '1.1',
    headers: { host, ...Object.fromEntries(request.headers) },
    rawHeaders: [],
    address,
    async *[Symbol.asyncIterator]() {
      if (request.body) yield* request.body;
    },
  };
}
