import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { ReaderStalled } from '../../errors.ts';

/** Sent by members with every request: the id of the sending node. */
export const VIA_HEADER = 'porthole-via';

/**
 * The parts of a request that are used, from our own server, from the server of a program that embeds the node, or from
 * `fetch`. Reading it gives the body.
 */
export interface HttpRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Set by Connect and Express, which take the path a handler is mounted at off `url`. */
  readonly originalUrl?: string | undefined;
  readonly httpVersion: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** `fetch` has none. */
  readonly socket?: Socket | undefined;
  /** The address of the client, if there is no socket. */
  readonly address?: string | undefined;
  /** Set by body parsers, which have then read the body. */
  readonly body?: unknown;
}

/** The parts of a response that are used. */
export interface HttpResponse {
  readonly closed: boolean;
  readonly destroyed: boolean;
  readonly errored?: Error | null;
  readonly writableFinished: boolean;
  readonly headersSent: boolean;
  readonly statusCode: number;
  on(event: 'close', listener: () => void): unknown;
  /** It is lost, or was written to after its end. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Names and values alternate. */
  writeHead(status: number, headers: string[]): unknown;
  flushHeaders(): void;
  write(bytes: Uint8Array, done: (error?: Error | null) => void): unknown;
  end(bytes: Uint8Array | undefined, done: (error?: Error | null) => void): unknown;
  destroy(error?: Error): unknown;
}

/** The path and query as the client sent them. */
export function requestUrl({ originalUrl, url = '/' }: HttpRequest): string {
  return originalUrl ?? url;
}

/** `undefined` for Unix sockets, and for `fetch` without an address. */
export function remoteAddress({ address, socket }: HttpRequest): string | undefined {
  return address ?? socket?.remoteAddress;
}

/** Responses with these statuses have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

interface FetchResponseOptions {
  isHead: boolean;
  /** A reader that takes nothing for this long ends the response. */
  stallTimeoutMs: number;
}

type Done = (error?: Error | null) => void;

/** What a handler writes, as a `Response`. A write is done when the reader wants more: one piece is buffered. */
export class FetchResponse extends Writable implements HttpResponse {
  /** Resolves with the head; rejects if the response ends without one. */
  readonly response: Promise<Response>; // kept: the result of one request, which its caller gets
  headersSent = false;
  statusCode = 200;
  readonly #options: FetchResponseOptions;
  #resolve: (response: Response) => void = () => {};
  #reject: (reason: Error) => void = () => {};
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isWanted = false;
  #waiting: { bytes: Uint8Array; done: Done } | undefined;
  #stallTimer: NodeJS.Timeout | undefined;

  constructor(options: FetchResponseOptions) {
    super();
    this.#options = options;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  writeHead(status: number, list: string[]): void {
    const headers = new Headers();
    for (let at = 0; at + 1 < list.length; at += 2) {
      const [name = '', value = ''] = list.slice(at, at + 2);
      // The connection is the host's.
      if (name !== 'connection') headers.append(name, value);
    }
    this.headersSent = true;
    this.statusCode = status;
    const body = this.#options.isHead || BODILESS.has(status) ? null : this.#openBody();
    this.#resolve(new Response(body, { status, headers }));
  }

  /** The head is sent when it is written. */
  flushHeaders(): void {}

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: Done): void {
    // A copy: the memory of the chunk is used again when the write is done, and the reader may keep what it has read.
    this.#waiting = { bytes: new Uint8Array(chunk), done };
    this.#stallTimer = setTimeout(() => this.destroy(new ReaderStalled()), this.#options.stallTimeoutMs).unref();
    if (this.#isWanted || !this.#controller) this.#deliver();
  }

  override _final(done: Done): void {
    this.#controller?.close();
    done();
  }

  /** Without an error: it would be emitted, and the reader gets it anyway. */
  override _destroy(error: Error | null, done: Done): void {
    clearTimeout(this.#stallTimer);
    if (!this.writableFinished) {
      const reason = error ?? new Error('the node ended the response before it was complete');
      this.#controller?.error(reason);
      this.#reject(reason);
    }
    done(null);
  }

  #openBody(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#isWanted = true;
          this.#deliver();
        },
        cancel: () => {
          this.#controller = undefined;
          this.destroy();
        },
      },
      // One piece is taken before anyone reads: a short response ends even if its body is never read.
      { highWaterMark: 1 },
    );
  }

  #deliver(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    clearTimeout(this.#stallTimer);
    this.#waiting = undefined;
    this.#isWanted = false;
    this.#controller?.enqueue(waiting.bytes);
    waiting.done();
  }
}
