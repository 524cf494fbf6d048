import type { IncomingMessage, ServerResponse } from 'node:http';
import { type GrpcAdapter, startGrpcServer } from './grpc/grpc-server.ts';
import { type BoundHttpServer, startHttpServer } from './http/http-server.ts';
import { explainBindError, PortConflict } from './port-conflict.ts';
import type { Settings } from './settings/settings.ts';
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
  /** Has clients connect again: what they showed when they did may not count any more. */
  retireConnections(): void;
  /** Stops accepting, lets answers end for `drainMs`, then cuts what is left. */
  stop(drainMs: number): Promise<void>;
}

export interface PortOptions {
  tls: TlsFiles | undefined;
  onRequest(request: IncomingMessage, response: ServerResponse): void;
  /** Called with the first connection to the gRPC port. */
  openGrpcAdapter(): Promise<GrpcAdapter>;
  /** Told when that fails. */
  onGrpcFailure(error: unknown): void;
}

/** Binds gRPC, then HTTP: whoever is answered over HTTP is told a gRPC port that is already there. */
async function bindPorts(settings: Settings, options: PortOptions): Promise<BoundPorts> {
  const { http, grpc } = settings;
  const { onRequest, openGrpcAdapter: openAdapter, onGrpcFailure: onFailure } = options;
  const tls = options.tls && tlsServerOptions(options.tls);
  const { host, maxHeaderBytes, stallTimeoutMs } = http;
  const rpc = await startGrpcServer({ host, port: grpc.port, tls, openAdapter: openAdapter, onFailure }).catch(
    async (error) => {
      throw await explainBindError(error, 'grpc.port', settings);
    },
  );
  let web: BoundHttpServer;
  try {
    web = await startHttpServer({
      host,
      port: http.port,
      maxHeaderBytes,
      arrivalTimeoutMs: ARRIVAL_TIMEOUT_MS,
      stallTimeoutMs,
      tls,
      onRequest,
    });
  } catch (error) {
    await rpc.stop(0);
    throw await explainBindError(error, 'http.port', settings);
  }
  return {
    host: web.host,
    httpPort: web.port,
    grpcPort: rpc.port,
    renewTls(files) {
      for (const server of [web, rpc]) server.renewTls(tlsServerOptions(files));
    },
    retireConnections() {
      for (const server of [web, rpc]) server.retireConnections();
    },
    async stop(drainMs) {
      await Promise.all([web.stop(drainMs), rpc.stop(drainMs)]);
    },
  };
}

/** Pairs of ports that are tried where both are the default and another node has them. */
const MAX_PAIRS = 16;

export interface DefaultPorts {
  /** Which ports nobody chose: where another Porthole node has them, the next pair is taken. */
  http: boolean;
  grpc: boolean;
}

/** Like `bindPorts`; where a Porthole node has a port that nobody chose, the next free pair, with a warning that says so. */
export async function bindFreePorts(
  settings: Settings,
  options: PortOptions,
  isDefault: DefaultPorts,
): Promise<BoundPorts & { warning?: string }> {
  const taken: PortConflict[] = [];
  for (;;) {
    const step = 2 * taken.length;
    const http = { ...settings.http, port: settings.http.port + (isDefault.http ? step : 0) };
    const grpc = { ...settings.grpc, port: settings.grpc.port + (isDefault.grpc ? step : 0) };
    try {
      const bound = await bindPorts({ ...settings, http, grpc }, options);
      return taken.length === 0 ? bound : { ...bound, warning: describePortChange(taken, bound) };
    } catch (error) {
      const isOurs = error instanceof PortConflict && (error.port === http.port ? isDefault.http : isDefault.grpc);
      if (!isOurs || (taken.length === 0 && !error.isPorthole) || taken.length >= MAX_PAIRS) throw error;
      taken.push(error);
    }
  }
}

function describePortChange([first]: readonly PortConflict[], { httpPort, grpcPort }: BoundPorts): string {
  const [reason = ''] = first?.message.split(': choose') ?? [];
  return `${reason}: listening on ${httpPort} (gRPC ${grpcPort}) instead; --http-port and --grpc-port choose others`;
}
