import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions, type Server as TlsServer } from 'node:tls';

/** What answers on connections that were accepted. */
export interface GrpcAdapter {
  accept(socket: Socket): void;
  /** Tells health watchers first, then lets calls end, or their connections be cut. */
  stop(): Promise<void>;
}

export interface GrpcServerOptions {
  host: string;
  port: number;
  /** Encrypted if given. */
  tls: TlsOptions | undefined;
  /** A handshake that takes longer is cut; 20 s unless given. */
  handshakeTimeoutMs?: number;
  /** TLS handshakes under way at once; 1,024 unless given. */
  mostHandshakes?: number;
  /** Called with the first connection: the code behind it takes longer to load than the rest of a node to start. */
  openAdapter(): Promise<GrpcAdapter>;
  /** Told when the door cannot be opened; connections are closed then. */
  onFailure(error: unknown): void;
}

export interface BoundGrpcServer {
  port: number;
  /** For connections from now on. */
  renewTls(tls: TlsOptions): void;
  /** Closes connections that stand: clients connect again. */
  retireConnections(): void;
  /** Stops accepting, lets calls end for `drainMs`, then cuts what is left. */
  stop(drainMs: number): Promise<void>;
}

/** HTTP/2 is agreed upon with the encryption. A client that does not get on with it is cut like one that sends nothing. */
const TLS_RULES = { noDelay: true, ALPNProtocols: ['h2'] };

const HANDSHAKE_TIMEOUT_MS = 20_000;

/** Each costs some ten kilobytes. */
const MOST_HANDSHAKES = 1024;

/** Binds the gRPC port. Rejects with the system's error when the address cannot be had. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<BoundGrpcServer> {
  const { host, port, tls, openAdapter, onFailure, mostHandshakes = MOST_HANDSHAKES } = options;
  const handshakeTimeout = options.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS;
  const sockets = new Set<Socket>();
  let established = 0;
  let opening: Promise<GrpcAdapter> | undefined;
  const onConnection = (socket: Socket) => {
    established++;
    socket.once('close', () => established--);
    socket.on('error', () => {}); // one that is lost before the door takes it over
    opening ??= openAdapter();
    opening.then(
      (adapter) => adapter.accept(socket),
      (error) => {
        onFailure(error);
        opening = undefined;
        socket.destroy();
      },
    );
  };
  const server = tls
    ? createTlsServer({ ...tls, ...TLS_RULES, handshakeTimeout }, onConnection)
    : createServer({ noDelay: true }, onConnection);
  // Node.js reports a handshake that fails or takes too long, and leaves its connection open.
  server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // one that is lost while it is being encrypted
    if (tls && sockets.size - established > mostHandshakes) socket.destroy();
  });
  await listen(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    renewTls: (renewed) => (server as TlsServer).setSecureContext(renewed),
    retireConnections() {
      for (const socket of sockets) socket.destroy();
    },
    async stop(drainMs) {
      const closed = new Promise((resolve) => server.close(resolve));
      const cut = () => {
        for (const socket of sockets) socket.destroy();
      };
      const timer = setTimeout(cut, drainMs);
      const adapter = await opening?.catch(() => undefined);
      await adapter?.stop();
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
