import type { IncomingMessage, ServerResponse } from 'node:http';
import { type GrpcDoor, startGrpcServer } from './grpc/grpc-server.ts';
import { type BoundHttpServer, startHttpServer } from './http/http-server.ts';
import type { Settings } from './settings/settings.ts';
import { StartError } from './start-error.ts';
import { type TlsFiles, tlsServerOptions } from './tls-files.ts';

/** Slower requests are attacks or broken; every client we know of sends its few hundred bytes at once. */
export const ARRIVAL_TIMEOUT_MS = 20_000;

export interface BoundPorts {
  /** The address HTTP really listens on. */
  host: string;
  httpPort: number;
  grpcPort: number;
  /** Other certificates, for connections from now on; those that stand stay. Only where there were some at the start. */
  renewTls(files: TlsFiles): void;
  /** Stops accepting, lets answers end for `drainMs`, then cuts what is left. */
  stop(drainMs: number): Promise<void>;
}

export interface PortOptions {
  tls: TlsFiles | undefined;
  onRequest(request: IncomingMessage, response: ServerResponse): void;
  /** Called with the first connection to the gRPC port. */
  openGrpcDoor(): Promise<GrpcDoor>;
  /** Told when that fails. */
  onGrpcFailure(error: unknown): void;
}

/** Binds gRPC, then HTTP: whoever is answered over HTTP is told a gRPC port that is already there. */
export async function bindPorts({ http, grpc }: Settings, options: PortOptions): Promise<BoundPorts> {
  const { onRequest, openGrpcDoor: openDoor, onGrpcFailure: onFailure } = options;
  const tls = options.tls && tlsServerOptions(options.tls);
  const { host, maxHeaderBytes, stallTimeoutMs } = http;
  const rpc = await told('grpc.port', grpc.port, startGrpcServer({ host, port: grpc.port, tls, openDoor, onFailure }));
  let web: BoundHttpServer;
  try {
    web = await told(
      'http.port',
      http.port,
      startHttpServer({
        host,
        port: http.port,
        maxHeaderBytes,
        arrivalTimeoutMs: ARRIVAL_TIMEOUT_MS,
        stallTimeoutMs,
        tls,
        onRequest,
      }),
    );
  } catch (error) {
    await rpc.stop(0);
    throw error;
  }
  return {
    host: web.host,
    httpPort: web.port,
    grpcPort: rpc.port,
    renewTls(files) {
      for (const server of [web, rpc]) server.renewTls(tlsServerOptions(files));
    },
    async stop(drainMs) {
      await Promise.all([web.stop(drainMs), rpc.stop(drainMs)]);
    },
  };
}

/** Turns the system's refusal of an address into what to do about it. */
async function told<T>(setting: string, port: number, starting: Promise<T>): Promise<T> {
  try {
    return await starting;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'))
      throw new StartError(`${setting} ${port} cannot be bound: ${reason}`, { cause: error });
    const flag = `--${setting.replace('.', '-')}`;
    const message = `port ${port} is taken by another program: choose another with ${flag} N (0 takes any free one)`;
    throw new StartError(message, { cause: error });
  }
}
