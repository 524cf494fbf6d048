import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { TlsOptions, Server as TlsServer } from 'node:tls';
import { PortholeError } from '@porthole/contract';
import { ReaderStalled } from '../transport/client-disconnected.ts';
import { Connections } from './connections.ts';
import { problemResponse } from './response/problem-response.ts';

/** How often, within the time a request has to arrive, Node looks for those that are late. */
const ARRIVAL_CHECKS = 4;

/** After a refusal the client has this long to close its side; without a limit it could hold the connection for ever. */
const REFUSED_LINGER_MS = 1_000;

/** Idle connections are kept longer than the usual load balancer does (60 s), so that it never writes into a closing one. */
const KEEP_ALIVE_MS = 65_000;

/** While the server stops, how often connections whose last answer has ended are closed. */
const IDLE_SWEEP_MS = 20;

export interface HttpServerOptions {
  host: string;
  port: number;
  maxHeaderBytes: number;
  /** A request must arrive whole, head and (ignored) body, in this time. */
  arrivalTimeoutMs: number;
  /** A reader that takes no byte for so long is cut. */
  stallTimeoutMs: number;
  tls: TlsOptions | undefined;
  /** TLS handshakes under way at once; 1,024 unless given. */
  mostHandshakes?: number;
  onRequest(request: IncomingMessage, response: ServerResponse): void;
}

export interface BoundHttpServer {
  host: string;
  port: number;
  /** For connections from now on. */
  renewTls(tls: TlsOptions): void;
  /** Closes connections that stand, when no answer is under way on them: clients connect again. */
  retireConnections(): void;
  /** Stops accepting, lets answers end for `drainMs`, then cuts what is left. */
  stop(drainMs: number): Promise<void>;
}

/** Binds and starts to answer. Rejects with the system's error when the address cannot be had. */
export async function startHttpServer(options: HttpServerOptions): Promise<BoundHttpServer> {
  const { host, port, tls, onRequest, maxHeaderBytes, arrivalTimeoutMs, stallTimeoutMs } = options;
  const limits = {
    maxHeaderSize: maxHeaderBytes,
    requestTimeout: arrivalTimeoutMs,
    headersTimeout: arrivalTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: arrivalTimeoutMs / ARRIVAL_CHECKS,
    requireHostHeader: false, // Node's own refusal is no problem document; the gate's is
  };
  const server = tls
    ? createTlsServer({ handshakeTimeout: arrivalTimeoutMs, ...limits, ...tls })
    : createServer(limits);
  const connections = new Connections(server, {
    secure: tls !== undefined,
    onRequest,
    mostHandshakes: options.mostHandshakes,
  });
  server.setTimeout(stallTimeoutMs, (socket) => endIdle(socket, connections.unfinishedResponse(socket)));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Within an unfinished answer the refusal would be taken for a part of it.
    if (connections.unfinishedResponse(socket) || error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuse(socket, toRefusal(error.code, arrivalTimeoutMs));
  });
  await listen(server, host, port);
  const address = server.address() as AddressInfo;
  return {
    host: address.address,
    port: address.port,
    renewTls: (renewed) => (server as unknown as TlsServer).setSecureContext(renewed),
    retireConnections: () => connections.retire(),
    stop: (drainMs) => stopServer(server, connections, drainMs),
  };
}

/** Nothing moved on a connection for the stall time, or for the time it is kept between requests. */
function endIdle(socket: Socket, response: ServerResponse | undefined): void {
  if (!response) socket.destroy();
  // Bytes wait for the reader. Otherwise there is nothing to send at the moment: the answer is still being made, which
  // has a deadline of its own, or it is a search or a follow without news. The next write starts the clock again.
  else if (socket.writableLength > 0) response.destroy(new ReaderStalled());
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function stopServer(server: Server, connections: Connections, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => connections.closeAll(), drainMs);
    // A connection is kept for further requests when its answer ends; none of those will be served any more.
    const sweep = setInterval(() => connections.closeIdle(), IDLE_SWEEP_MS);
    // Only stops to listen: the close of an HTTP server would also cut answers that wait for a slow reader.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(cut);
      clearInterval(sweep);
      server.close(() => resolve()); // ends the timers of the HTTP server, which has no connection left
    });
    connections.closeIdle();
  });
}

/** Answers what the HTTP parser refused; no request object exists for it. */
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
