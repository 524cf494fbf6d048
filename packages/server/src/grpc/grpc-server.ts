import { Server, ServerCredentials } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation, protoPath } from 'grpc-health-check';

export interface GrpcServerOptions {
  host: string;
  port: number;
  tls: { cert: Buffer; key: Buffer } | undefined;
}

export interface BoundGrpcServer {
  port: number;
  /** Tells health watchers first, lets calls end for `drainMs`, then cuts what is left. */
  stop(drainMs: number): Promise<void>;
}

/** Binds the gRPC port with the standard health service and reflection. */
export async function startGrpcServer({ host, port, tls }: GrpcServerOptions): Promise<BoundGrpcServer> {
  const server = new Server();
  const health = new HealthImplementation({ '': 'SERVING' });
  health.addToServer(server);
  new ReflectionService(loadSync(protoPath, { keepCase: true })).addToServer(server);
  const boundPort = await bind(server, host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`, credentials(tls));
  return {
    port: boundPort,
    stop(drainMs) {
      health.setStatus('', 'NOT_SERVING');
      return new Promise((resolve) => {
        const timer = setTimeout(() => server.forceShutdown(), drainMs);
        server.tryShutdown(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
  };
}

function credentials(tls: GrpcServerOptions['tls']): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  return ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
}

function bind(server: Server, address: string, how: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, how, (error, port) => (error ? reject(error) : resolve(port)));
  });
}
