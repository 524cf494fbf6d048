import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is known of a connection that requests can come on. */
interface Connection {
  lastAnswer: ServerResponse | undefined;
  /** Bytes that had come when it was established, or with its last request: more of them begin another one. */
  bytesRead: number;
}

/** The open connections of a server, and how far each is. */
export class Connections {
  /** As the system accepted them; with TLS, below those that requests come on, and also while these are being set up. */
  readonly #accepted = new Set<Socket>();
  readonly #established = new Map<Socket, Connection>();

  constructor(server: Server, { secure }: { secure: boolean }) {
    server.on('connection', (socket: Socket) => {
      this.#accepted.add(socket);
      socket.once('close', () => this.#accepted.delete(socket));
    });
    server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#established.set(socket, { lastAnswer: undefined, bytesRead: socket.bytesRead });
      socket.once('close', () => this.#established.delete(socket));
    });
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = this.#established.get(socket);
      if (!connection) return;
      connection.lastAnswer = response;
      connection.bytesRead = socket.bytesRead;
    });
  }

  /** The answer that has not reached the system whole yet; `undefined` where there is none. */
  unfinishedAnswer(socket: Socket): ServerResponse | undefined {
    const answer = this.#established.get(socket)?.lastAnswer;
    return answer && !answer.writableFinished ? answer : undefined;
  }

  /**
   * Closes connections on which no answer is under way and no request has begun to arrive. Node's own way of closing
   * idle connections also takes those whose last bytes still wait for a slow reader.
   */
  closeResting(): void {
    for (const [socket, { bytesRead }] of this.#established) {
      if (!this.unfinishedAnswer(socket) && socket.bytesRead === bytesRead) socket.destroy();
    }
  }

  closeAll(): void {
    for (const socket of this.#accepted) socket.destroy();
  }
}
