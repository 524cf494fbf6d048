import { unlink } from 'node:fs/promises';
// owner: listen() owns the errors of the server, Node.js those of its sockets (clientError)
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
// owner: listen() owns the errors of the server, Node.js those of its sockets (clientError)
import { connect, Server as NetServer, type Socket } from 'node:net';
import type { TlsOptions, Server as TlsServer } from 'node:tls';
import { PortholeError } from '@porthole/contract';
import { hasCode, ReaderStalled } from '../errors.ts';
import { listen } from '../transport/connections.ts';
import type { Http2Sessions } from './http2-sessions.ts';
import type { HttpRequest, HttpResponse } from './response/http-exchange.ts';
import { problemResponse } from './response/problem-response.ts';
import { UpgradeResponse, wantsWebSocket } from './web-socket.ts';

/** How often Node checks for late requests within the arrival timeout. */
const ARRIVAL_CHECKS = 4;

/** After a refusal the client has this long to close its side; otherwise it could hold the connection forever. */
const REFUSED_LINGER_MS = 1_000;

/** Longer than the idle timeout of common load balancers (60 s), so that they never write into a closing connection. */
const KEEP_ALIVE_MS = 65_000;

/** How often idle connections are closed while the server stops. */
const IDLE_SWEEP_MS = 20;

interface HttpServerOptions {
  host: string;
  port: number;
  /** Path of a Unix socket to listen on instead of host and port; empty: none. */
  socket?: string;
  maxHeaderBytes: number;
  /** Time limit for receiving a request with headers and body. */
  arrivalTimeoutMs: number;
  /** A client that reads nothing for this long is disconnected. */
  stallTimeoutMs: number;
  tls: TlsOptions | undefined;
  /** Limit of concurrent TLS handshakes; default 1,024. */
  mostHandshakes?: number;
  onRequest(request: IncomingMessage, response: ServerResponse): void;
  /** Called when a connection cannot be accepted. */
  onFailure(error: unknown): void;
  /** Requests for a WebSocket. Without it, they are like any other request. */
  onUpgrade?: ((request: HttpRequest, response: HttpResponse) => void) | undefined;
  /** Requests over HTTP/2, which clients can choose with TLS. Without it, only HTTP/1.1 is offered. */
  onHttp2Request?(request: HttpRequest, response: HttpResponse): void;
}

export interface BoundHttpServer {
  /** Empty for a Unix socket, whose port is 0. */
  host: string;
  port: number;
  /** For new connections. */
  renewTls(tls: TlsOptions): void;
  /** Closes existing connections as soon as they are idle, so that clients reconnect. */
  retireConnections(): void;
  /** Stops accepting, waits up to `drainMs` for running responses, then closes the rest. */
  stop(drainMs: number): Promise<void>;
}

/** Binds the HTTP port. Rejects with the system's error if the address cannot be bound. */
export async function startHttpServer(options: HttpServerOptions): Promise<BoundHttpServer> {
  const {
    host,
    port,
    socket = '',
    tls,
    onRequest,
    onFailure,
    maxHeaderBytes,
    arrivalTimeoutMs,
    stallTimeoutMs,
  } = options;
  const limits = {
    maxHeaderSize: maxHeaderBytes,
    requestTimeout: arrivalTimeoutMs,
    headersTimeout: arrivalTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: arrivalTimeoutMs / ARRIVAL_CHECKS,
    requireHostHeader: false, // checked in authorizeRequest, which responds with a problem document
  };
  const http2 = tls && (await openHttp2(options));
  // Loaded on demand, like HTTP/2: a node without TLS saves the memory.
  // owner: listen() owns the errors of the server, Node.js those of its sockets (clientError)
  const https = tls && (await import('node:https'));
  const server = https
    ? https.createServer({
        handshakeTimeout: arrivalTimeoutMs,
        ALPNProtocols: http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
        ...limits,
        ...tls,
      })
    : createServer(limits);
  http2?.takeFrom(server as unknown as TlsServer);
  const connections = new Connections(server, {
    secure: tls !== undefined,
    onRequest,
    mostHandshakes: options.mostHandshakes,
    http2,
    onUpgrade: options.onUpgrade,
    stallTimeoutMs,
  });
  server.setTimeout(stallTimeoutMs, (client) => endIdle(client, connections.unfinishedResponse(client)));
  server.on('clientError', (error: NodeJS.ErrnoException, client: Socket) => {
    // Within an unfinished response the refusal would be taken for a part of it.
    if (connections.unfinishedResponse(client) || error.code === 'ECONNRESET' || !client.writable) client.destroy();
    else refuse(client, toRefusal(error.code, arrivalTimeoutMs));
  });
  await (socket === '' ? listen(server, { host, port }, onFailure) : listenOnSocket(server, socket, onFailure));
  const address = server.address();
  return {
    host: typeof address === 'object' && address ? address.address : '',
    port: typeof address === 'object' && address ? address.port : 0,
    renewTls: (renewed) => (server as unknown as TlsServer).setSecureContext(renewed),
    retireConnections: () => connections.retire(),
    stop: (drainMs) => stopServer(server, connections, drainMs),
  };
}

async function openHttp2(options: HttpServerOptions): Promise<Http2Sessions | undefined> {
  const { maxHeaderBytes, stallTimeoutMs, onHttp2Request } = options;
  if (onHttp2Request === undefined) return undefined;
  const { Http2Sessions } = await import('./http2-sessions.ts');
  return new Http2Sessions({ maxHeaderBytes, stallTimeoutMs, keepAliveMs: KEEP_ALIVE_MS, onRequest: onHttp2Request });
}

/** Called when a connection was inactive for the stall timeout or the keep-alive time. */
function endIdle(socket: Socket, response: HttpResponse | undefined): void {
  if (!response) socket.destroy();
  // Bytes wait for the client: it has stalled. Otherwise there is nothing to send at the moment: the response is being
  // prepared, which has its own deadline, or it is a search or follow without new records. The next write restarts the timer.
  else if (socket.writableLength > 0) response.destroy(new ReaderStalled());
}

/** A process that was killed leaves its socket behind: one that nobody listens on is removed. */
async function listenOnSocket(server: Server, path: string, onFailure: (error: unknown) => void): Promise<void> {
  try {
    await listen(server, { path }, onFailure);
  } catch (error) {
    if (!hasCode(error, 'EADDRINUSE') || (await connectionError(path)) !== 'ECONNREFUSED') throw error;
    await unlink(path);
    await listen(server, { path }, onFailure);
  }
}

/** Why a socket cannot be connected; `undefined` if it can. */
function connectionError(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const client = connect({ path }, () => {
      client.destroy();
      resolve(undefined);
    });
    client.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });
}

function stopServer(server: Server, connections: Connections, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => connections.closeAll(), drainMs);
    // Keep-alive connections stay open after a response; no further requests are served now.
    const sweep = setInterval(() => connections.closeIdle(), IDLE_SWEEP_MS);
    // Only stops listening: `close` of an HTTP server would also cut responses that wait for a slow client.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(cut);
      clearInterval(sweep);
      server.close(() => resolve()); // stops the timers of the HTTP server, which has no connections left
    });
    connections.closeIdle();
  });
}

/** Responds to input the HTTP parser rejected; there is no request object for it. */
function refuse(socket: Socket, refusal: PortholeError): void {
  const { status, headers, body } = problemResponse(refusal);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${headers['content-type']}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    'connection: close',
  ];
  socket.setTimeout(REFUSED_LINGER_MS, () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function toRefusal(code: string | undefined, arrivalTimeoutMs: number): PortholeError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new PortholeError('HEADERS_TOO_LARGE', 'URL and headers exceed the limit set by http.max-header-bytes');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new PortholeError('REQUEST_TIMEOUT', `the request did not arrive within ${arrivalTimeoutMs} ms`);
  }
  return new PortholeError('BAD_REQUEST', 'the request is not valid HTTP/1.1');
}

/**
 * Pipelined requests that may wait on one connection. Node's parser emits everything it received, a thousand or more at
 * once: without a limit, the responses to a client that sends and never reads could fill the memory.
 */
const MOST_WAITING = 100;

/** Concurrent TLS handshakes: each costs about ten kilobytes, and an unfinished one lasts up to twenty seconds. */
const MOST_HANDSHAKES = 1024;

/** How often connections that are to be closed are checked. */
const SWEEP_MS = 20;

type OnRequest = (request: IncomingMessage, response: ServerResponse) => void;

interface ConnectionsOptions {
  /** Whether connections are encrypted. */
  secure: boolean;
  onRequest: OnRequest;
  /** Limit of concurrent TLS handshakes; further connections are closed. */
  mostHandshakes?: number | undefined;
  /** Connections of HTTP/2 end by themselves when they are asked to. */
  http2?: Http2Sessions | undefined;
  onUpgrade?: HttpServerOptions['onUpgrade'];
  stallTimeoutMs: number;
}

/** The state of an established connection. */
interface Connection {
  /** The current or last one. */
  response: HttpResponse | undefined;
  /** Requests that arrived before the current response ended. */
  waiting: number;
  /** Bytes received up to the last request, or when the connection was established: more bytes belong to another request. */
  bytesRead: number;
}

/** The open connections of a server. Passes on the requests, those of one connection one after the other. */
export class Connections {
  /** Raw sockets; with TLS these are below the established ones, and exist already during the handshake. */
  readonly #accepted = new Set<Socket>();
  readonly #established = new Map<Socket, Connection>();
  readonly #http2: Http2Sessions | undefined;

  constructor(server: Server, options: ConnectionsOptions) {
    const { secure, onRequest, mostHandshakes = MOST_HANDSHAKES, http2, onUpgrade, stallTimeoutMs } = options;
    this.#http2 = http2;
    if (onUpgrade)
      server.on('upgrade', (request: IncomingMessage, socket: Socket, received: Buffer) => {
        if (!wantsWebSocket(request)) return serveWithoutUpgrade(server, { request, socket, received, secure });
        const response = new UpgradeResponse(socket, received, { stallTimeoutMs });
        const connection = this.#established.get(socket);
        if (connection) connection.response = response;
        onUpgrade(request, response);
      });
    server.on('connection', (socket: Socket) => {
      this.#accepted.add(socket);
      socket.once('close', () => this.#accepted.delete(socket));
      if (secure && this.#accepted.size - this.#established.size > mostHandshakes) socket.destroy();
    });
    server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#established.set(socket, { response: undefined, waiting: 0, bytesRead: socket.bytesRead });
      socket.once('close', () => this.#established.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      const connection = this.#established.get(socket);
      if (!connection) return onRequest(request, response);
      connection.bytesRead = socket.bytesRead;
      const begin = () => {
        connection.response = response;
        onRequest(request, response);
      };
      if (response.socket) return begin();
      // Pipelined: it begins with its turn, when it gets the connection. One that never does would never be closed. Deferred: a
      // hundred requests on one connection must not keep all other connections waiting.
      response.once('socket', () =>
        setImmediate(() => {
          connection.waiting--;
          if (!response.destroyed) begin();
        }),
      );
      if (++connection.waiting > MOST_WAITING) socket.destroy();
    });
  }

  /** The response that is not yet flushed completely, if any. */
  unfinishedResponse(socket: Socket): HttpResponse | undefined {
    const connection = this.#established.get(socket);
    if (!connection?.response) return undefined;
    return connection.response.writableFinished && connection.waiting === 0 ? undefined : connection.response;
  }

  /**
   * Closes connections without a running response or a partly received request. Node's `closeIdleConnections` also closes
   * those whose last bytes still wait for a slow client.
   */
  closeIdle(): void {
    this.#http2?.retire();
    for (const [socket, connection] of this.#established) if (this.#isIdle(socket, connection)) socket.destroy();
  }

  /** Closes the connections that are open now, each as soon as it is idle. */
  retire(): void {
    this.#http2?.retire();
    const retired = new Set(this.#established.keys());
    const sweep = () => {
      for (const socket of retired) {
        const connection = this.#established.get(socket);
        if (connection && !this.#isIdle(socket, connection)) continue;
        socket.destroy();
        retired.delete(socket);
      }
      if (retired.size > 0) setTimeout(sweep, SWEEP_MS).unref();
    };
    sweep();
  }

  #isIdle(socket: Socket, { bytesRead }: Connection): boolean {
    if (this.#http2?.has(socket)) return false;
    return !this.unfinishedResponse(socket) && socket.bytesRead === bytesRead;
  }

  closeAll(): void {
    for (const socket of this.#accepted) socket.destroy();
  }
}

interface UpgradeRequest {
  request: IncomingMessage;
  socket: Socket;
  received: Buffer;
  secure: boolean;
}

/**
 * Serves a request that offers another protocol, such as HTTP/2 without TLS, as if it did not: with a listener for upgrades,
 * Node.js gives up such a connection. It is given back, with the request before what was received after it.
 */
function serveWithoutUpgrade(server: Server, { request, socket, received, secure }: UpgradeRequest): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), received]));
  server.emit(secure ? 'secureConnection' : 'connection', socket);
}
