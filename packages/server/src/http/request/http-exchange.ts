import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

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
