import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests that may wait for their turn on one connection. Node's parser gives all that it was sent, a thousand or more in a
 * piece: without a bound, one client that sends and never reads could have their answers fill the memory.
 */
const MOST_WAITING = 100;

/** TLS handshakes under way: each costs some ten kilobytes, and who only begins them has twenty seconds. */
const MOST_HANDSHAKES = 1024;

/** How often connections are looked at that are to be closed. */
const SWEEP_MS = 20;

type OnRequest = (request: IncomingMessage, response: ServerResponse) => void;

export interface ConnectionsOptions {
  /** Whether connections are encrypted. */
  secure: boolean;
  onRequest: OnRequest;
  /** More connections that are being encrypted are closed. */
  mostHandshakes?: number | undefined;
}

/** What is known of a connection that requests can come on. */
interface Connection {
  /** The one under way, or the last. */
  response: ServerResponse | undefined;
  /** Begin the answers to requests that came before that has ended. */
  waiting: (() => void)[];
  /** Bytes that had come when it was established, or with its last request: more of them begin another one. */
  bytesRead: number;
}

/** The open connections of a server, and how far each is. Hands on the requests, of each connection one after the other. */
export class Connections {
  /** As the system accepted them; with TLS, below those that requests come on, and also while these are being set up. */
  readonly #accepted = new Set<Socket>();
  readonly #established = new Map<Socket, Connection>();

  constructor(server: Server, { secure, onRequest, mostHandshakes = MOST_HANDSHAKES }: ConnectionsOptions) {
    server.on('connection', (socket: Socket) => {
      this.#accepted.add(socket);
      socket.once('close', () => this.#accepted.delete(socket));
      if (secure && this.#accepted.size - this.#established.size > mostHandshakes) socket.destroy();
    });
    server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#established.set(socket, { response: undefined, waiting: [], bytesRead: socket.bytesRead });
      socket.once('close', () => this.#established.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      const connection = this.#established.get(socket);
      if (!connection) return onRequest(request, response);
      connection.bytesRead = socket.bytesRead;
      const begin = () => {
        connection.response = response;
        response.once('close', () => !socket.destroyed && beginNext(connection));
        onRequest(request, response);
      };
      if (!connection.response || connection.response.closed) begin();
      else if (connection.waiting.push(begin) > MOST_WAITING) socket.destroy();
    });
  }

  /** The answer that has not reached the system whole yet; `undefined` where there is none. */
  unfinishedResponse(socket: Socket): ServerResponse | undefined {
    const connection = this.#established.get(socket);
    if (!connection?.response) return undefined;
    return connection.response.writableFinished && connection.waiting.length === 0 ? undefined : connection.response;
  }

  /**
   * Closes connections on which no answer is under way and no request has begun to arrive. Node's own way of closing
   * idle connections also takes those whose last bytes still wait for a slow reader.
   */
  closeIdle(): void {
    for (const [socket, connection] of this.#established) if (this.#isIdle(socket, connection)) socket.destroy();
  }

  /** Closes the connections that are open now, each as soon as no answer is under way on it. */
  retire(): void {
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
    return !this.unfinishedResponse(socket) && socket.bytesRead === bytesRead;
  }

  closeAll(): void {
    for (const socket of this.#accepted) socket.destroy();
  }
}

/** After what else there is to do: a hundred requests on one connection must not keep all others waiting. */
function beginNext(connection: Connection): void {
  const begin = connection.waiting.shift();
  if (begin) setImmediate(begin);
}
