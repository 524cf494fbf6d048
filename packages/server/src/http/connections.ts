import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Http2Sessions } from './http2-sessions.ts';

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

export interface ConnectionsOptions {
  /** Whether connections are encrypted. */
  secure: boolean;
  onRequest: OnRequest;
  /** Limit of concurrent TLS handshakes; further connections are closed. */
  mostHandshakes?: number | undefined;
  /** Connections of HTTP/2 end by themselves when they are asked to. */
  http2?: Http2Sessions | undefined;
}

/** The state of an established connection. */
interface Connection {
  /** The current or last one. */
  response: ServerResponse | undefined;
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

  constructor(server: Server, { secure, onRequest, mostHandshakes = MOST_HANDSHAKES, http2 }: ConnectionsOptions) {
    this.#http2 = http2;
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
  unfinishedResponse(socket: Socket): ServerResponse | undefined {
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
