import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The open connections of a server, and the last answer begun on each. */
export class Connections {
  /** As the system accepted them; with TLS, below those that requests come on, and also while these are being set up. */
  readonly #accepted = new Set<Socket>();
  readonly #established = new Set<Socket>();
  readonly #answers = new WeakMap<Socket, ServerResponse>();

  constructor(server: Server, { secure }: { secure: boolean }) {
    server.on('connection', (socket: Socket) => keepWhileOpen(this.#accepted, socket));
    server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => keepWhileOpen(this.#established, socket));
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#answers.set(socket, response);
    });
  }

  /** The answer that has not reached the system whole yet; `undefined` on a connection at rest. */
  unfinishedAnswer(socket: Socket): ServerResponse | undefined {
    const answer = this.#answers.get(socket);
    return answer && !answer.writableFinished ? answer : undefined;
  }

  /** Node's own way of closing idle connections also takes those whose last bytes still wait for a slow reader. */
  closeResting(): void {
    for (const socket of this.#established) if (!this.unfinishedAnswer(socket)) socket.destroy();
  }

  closeAll(): void {
    for (const socket of this.#accepted) socket.destroy();
  }
}

function keepWhileOpen(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
}
