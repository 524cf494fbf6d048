import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A proxy to a port that can be unplugged: connections break and new ones are refused. */
export class Cable {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#connect(client));
  #isIn = true;

  private constructor(port: number) {
    this.#port = port;
  }

  static async to(port: number): Promise<Cable> {
    const cable = new Cable(port);
    await new Promise<void>((resolve) => cable.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      cable.pull();
      return new Promise((resolve) => cable.#server.close(() => resolve()));
    });
    return cable;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  pull(): void {
    this.#isIn = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  plugIn(): void {
    this.#isIn = true;
  }

  #connect(client: Socket): void {
    if (!this.#isIn) {
      client.destroy();
      return;
    }
    const server = connect({ host: '127.0.0.1', port: this.#port });
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => {}); // the connection was cut
      socket.once('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server).pipe(client);
  }
}
