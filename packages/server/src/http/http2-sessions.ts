// owner: sessions and streams have listeners from birth
import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { TLSSocket, Server as TlsServer } from 'node:tls';
import { ReaderStalled } from '../errors.ts';
import { limitResets, reportedByClose } from '../transport/connections.ts';
import type { HttpRequest, HttpResponse } from './response/http-exchange.ts';

/** Concurrent requests of a connection, as many as may wait on one of HTTP/1.1; more wait in the client. */
const MOST_STREAMS = 100;

/** Headers of a connection, which HTTP/2 has not. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade']);

export interface Http2Options {
  maxHeaderBytes: number;
  /** A client that reads nothing for this long is disconnected. */
  stallTimeoutMs: number;
  /** A connection without requests is closed after this time. */
  keepAliveMs: number;
  onRequest(request: HttpRequest, response: HttpResponse): void;
}

/** Connections that have chosen HTTP/2 in the TLS handshake. */
export class Http2Sessions {
  readonly #options: Http2Options;
  readonly #sessions = new Map<TLSSocket, { session: ServerHttp2Session; open: number }>();

  constructor(options: Http2Options) {
    this.#options = options;
  }

  /** Takes the connections of HTTP/2; the server serves the others, as before. */
  takeFrom(server: TlsServer): void {
    const [serveHttp1] = server.listeners('secureConnection') as [(socket: TLSSocket) => void];
    server.off('secureConnection', serveHttp1);
    server.on('secureConnection', (socket) => {
      if (socket.alpnProtocol === 'h2') this.#accept(socket);
      else serveHttp1.call(server, socket);
    });
  }

  has(socket: object): boolean {
    return this.#sessions.has(socket as TLSSocket);
  }

  /** Asks clients to open a new connection for further requests; each is closed when its last response has ended. */
  retire(): void {
    for (const { session } of this.#sessions.values()) if (!session.closed) session.close();
  }

  #accept(socket: TLSSocket): void {
    const { maxHeaderBytes, keepAliveMs, onRequest, stallTimeoutMs } = this.#options;
    const settings = { maxConcurrentStreams: MOST_STREAMS, maxHeaderListSize: maxHeaderBytes };
    const session = performServerHandshake(socket, { settings });
    const entry = { session, open: 0 };
    this.#sessions.set(socket, entry);
    socket.once('close', () => this.#sessions.delete(socket));
    reportedByClose(socket);
    reportedByClose(session);
    limitResets(session, { burst: MOST_STREAMS });
    session.setTimeout(keepAliveMs, () => {
      if (entry.open === 0) session.close();
    });
    session.on(
      'stream',
      (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) => {
        entry.open++;
        stream.once('close', () => entry.open--);
        reportedByClose(stream);
        const response = new Http2Response(stream, { stallTimeoutMs });
        onRequest(toHttpRequest(stream, { headers, rawHeaders, socket }), response);
      },
    );
  }
}

interface ReceivedHead {
  headers: IncomingHttpHeaders;
  rawHeaders: readonly string[];
  socket: TLSSocket;
}

/** The authority is the host; another one in a `Host` header beside it makes two, which are refused. */
function toHttpRequest(stream: ServerHttp2Stream, { headers, rawHeaders, socket }: ReceivedHead): HttpRequest {
  const { ':method': method, ':path': url, ':authority': authority, ':scheme': _scheme, ...others } = headers;
  const host = authority ?? others.host;
  if (stream.endAfterHeaders) stream.resume(); // no body is read, and the stream would not end
  return {
    method,
    url,
    httpVersion: '2.0',
    headers: { ...others, host: (others.host ?? host) === host ? host : `${host}, ${others.host}` },
    rawHeaders,
    socket,
    // A body that is refused must not destroy the stream: the response is sent on it.
    [Symbol.asyncIterator]: () => stream.iterator({ destroyOnReturn: false }),
  };
}

/** A stream with the methods of a response of `node:http`. */
class Http2Response implements HttpResponse {
  readonly #stream: ServerHttp2Stream;
  #error: Error | null = null;
  statusCode = 200;

  constructor(stream: ServerHttp2Stream, { stallTimeoutMs }: { stallTimeoutMs: number }) {
    this.#stream = stream;
    // Bytes wait for the client: it has stalled. A quiet follow has none.
    stream.setTimeout(stallTimeoutMs, () => {
      if (stream.writableLength > 0) this.destroy(new ReaderStalled());
    });
    // The rest of a body that nobody reads would keep the stream open.
    stream.once('finish', () => {
      if (!stream.closed && !stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
    });
  }

  get closed(): boolean {
    return this.#stream.closed || this.#stream.destroyed;
  }

  get destroyed(): boolean {
    return this.#stream.destroyed || (this.#stream.closed && !this.#stream.writableFinished);
  }

  get errored(): Error | null {
    return this.#error;
  }

  get writableFinished(): boolean {
    return this.#stream.writableFinished;
  }

  get headersSent(): boolean {
    return this.#stream.headersSent;
  }

  on(event: 'close' | 'error', listener: (error: Error) => void): void {
    this.#stream.on(event, listener);
  }

  writeHead(status: number, list: string[]): void {
    const headers: Record<string, string | number> = { ':status': status };
    for (let at = 0; at + 1 < list.length; at += 2) {
      const [name = '', value = ''] = list.slice(at, at + 2);
      if (!CONNECTION_HEADERS.has(name)) headers[name] = value;
    }
    this.statusCode = status;
    if (!this.closed) this.#stream.respond(headers);
  }

  /** The head is sent when it is written. */
  flushHeaders(): void {}

  write(bytes: Uint8Array, done: (error?: Error | null) => void): void {
    this.#stream.write(bytes, done);
  }

  end(bytes: Uint8Array | undefined, done: (error?: Error | null) => void): void {
    // Without a body it has ended with the head.
    if (this.#stream.writableFinished) queueMicrotask(done);
    else if (this.#stream.writableEnded) this.#stream.once('finish', () => done());
    else if (bytes === undefined) this.#stream.end(done);
    else this.#stream.end(bytes, done);
  }

  /** With an error code, so that no client takes what it has for the whole. */
  destroy(error?: Error): void {
    this.#error ??= error ?? null;
    if (!this.#stream.closed) this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }
}
