import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions, type Server as TlsServer } from 'node:tls';

/** What answers on connections that were accepted. */
export interface GrpcDoor {
  accept(socket: Socket): void;
  /** Tells health watchers first, then lets calls end, or their connections be cut. */
  stop(): Promise<void>;
}

export interface GrpcServerOptions {
  host: string;
  port: number;
  /** Encrypted if given. */
  tls: TlsOptions | undefined;
  /** Called with the first connection: the code behind it takes longer to load than the rest of a node to start. */
  openDoor(): Promise<GrpcDoor>;
  /** Told when the door cannot be opened; connections are closed then. */
  onFailure(error: unknown): void;
}

export interface BoundGrpcServer {
  port: number;
  /** For connections from now on. */
  renewTls(tls: TlsOptions): void;
  /** Stops accepting, lets calls end for `drainMs`, then cuts what is left. */
  stop(drainMs: number): Promise<void>;
}

/** HTTP/2 is agreed upon with the encryption. A client that does not get on with it is cut like one that sends nothing. */
const TLS_RULES = { noDelay: true, ALPNProtocols: ['h2'], handshakeTimeout: 20_000 };

/** Binds the gRPC port. Rejects with the system's error when the address cannot be had. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<BoundGrpcServer> {
  const { host, port, tls, openDoor, onFailure } = options;
  const sockets = new Set<Socket>();
  let opening: Promise<GrpcDoor> | undefined;
  const onConnection = (socket: Socket) => {
    socket.on('error', () => {}); // one that is lost before the door takes it over
    opening ??= openDoor();
    opening.then(
      (door) => door.accept(socket),
      (error) => {
        onFailure(error);
        opening = undefined;
        socket.destroy();
      },
    );
  };
  const server = tls
    ? createTlsServer({ ...tls, ...TLS_RULES }, onConnection)
    : createServer({ noDelay: true }, onConnection);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // one that is lost while it is being encrypted
  });
  await listen(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    renewTls: (renewed) => (server as TlsServer).setSecureContext(renewed),
    async stop(drainMs) {
      const closed = new Promise((resolve) => server.close(resolve));
      const cut = () => {
        for (const socket of sockets) socket.destroy();
      };
      const timer = setTimeout(cut, drainMs);
      const door = await opening?.catch(() => undefined);
      await door?.stop();
      clearTimeout(timer);
      cut(); // connections that no call ever came on
      await closed;
    },
  };
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
