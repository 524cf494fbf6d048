import { Writable } from 'node:stream';
import { ReaderStalled } from '../../transport/deadline.ts';
import type { HttpResponse } from '../request/http-exchange.ts';

/** Responses with these statuses have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

export interface FetchResponseOptions {
  isHead: boolean;
  /** A reader that takes nothing for this long ends the response. */
  stallTimeoutMs: number;
}

type Done = (error?: Error | null) => void;

/** What a handler writes, as a `Response`. A write is done when the reader wants more: one piece is buffered. */
export class FetchResponse extends Writable implements HttpResponse {
  /** Resolves with the head; rejects if the response ends without one. */
  readonly response: Promise<Response>;
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
