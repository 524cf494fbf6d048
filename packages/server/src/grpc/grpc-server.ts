// owner: listen() owns the errors of the server; every socket has a listener from birth
import { type AddressInfo, createServer, type Socket } from 'node:net';
// owner: listen() owns the errors of the server; every socket has a listener from birth
import { createServer as createTlsServer, type TlsOptions, type Server as TlsServer } from 'node:tls';
import { KEPT, owned, Shared } from '@porthole/logs/shared';
import { listen, reportedByClose } from '../transport/connections.ts';

/** Handles accepted connections. */
export interface GrpcAdapter {
  accept(socket: Socket): void;
  /** Notifies health watchers, then waits for calls to end or their connections to be closed. */
  stop(): Promise<void>;
}

export interface GrpcServerOptions {
  host: string;
  port: number;
  /** With TLS if given. */
  tls: TlsOptions | undefined;
  /** A handshake that takes longer is aborted; default 20 s. */
  handshakeTimeoutMs?: number;
  /** Limit of concurrent TLS handshakes; default 1,024. */
  mostHandshakes?: number;
  /** Called with the first connection: loading the gRPC code takes longer than the rest of a node's start. */
  openAdapter(): Promise<GrpcAdapter>;
  /** Called when a connection cannot be accepted, or `openAdapter` fails; connections are closed then. */
  onFailure(error: unknown): void;
}

export interface BoundGrpcServer {
  port: number;
  /** For new connections. */
  renewTls(tls: TlsOptions): void;
  /** Closes existing connections, so that clients reconnect. */
  retireConnections(): void;
  /** Stops accepting, waits up to `drainMs` for running calls, then closes the rest. */
  stop(drainMs: number): Promise<void>;
}

/** HTTP/2 is negotiated with TLS. A client that does not continue is cut like one that sends nothing. */
const TLS_OPTIONS = { noDelay: true, ALPNProtocols: ['h2'] };

const HANDSHAKE_TIMEOUT_MS = 20_000;

/** Each costs about ten kilobytes. */
const MOST_HANDSHAKES = 1024;

/** Binds the gRPC port. Rejects with the system's error if the address cannot be bound. */
export async function startGrpcServer(options: GrpcServerOptions): Promise<BoundGrpcServer> {
  const { host, port, tls, openAdapter, onFailure, mostHandshakes = MOST_HANDSHAKES } = options;
  const handshakeTimeout = options.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT_MS;
  const sockets = new Set<Socket>();
  let established = 0;
  const opening = new Shared<GrpcAdapter>(KEPT);
  const onConnection = (socket: Socket) => {
    established++;
    socket.once('close', () => established--);
    reportedByClose(socket);
    const accepted = opening.run(openAdapter).then((adapter) => adapter.accept(socket));
    void owned(accepted, (error) => {
      onFailure(error);
      socket.destroy();
    });
  };
  const server = tls
    ? createTlsServer({ ...tls, ...TLS_OPTIONS, handshakeTimeout }, onConnection)
    : createServer({ noDelay: true }, onConnection);
  // Node.js reports a handshake that fails or takes too long, and leaves its connection open.
  server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    reportedByClose(socket);
    if (tls && sockets.size - established > mostHandshakes) socket.destroy();
  });
  await listen(server, { host, port }, onFailure);
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
      const adapter = await opening.last();
      await adapter?.stop();
      clearTimeout(timer);
      cut(); // connections without any calls
      await closed;
    },
  };
}
