import { errorMessage } from '@porthole/contract';
import { hasCode, StartError } from './errors.ts';
import { type BoundGrpcServer, type GrpcAdapter, startGrpcServer } from './grpc/grpc-server.ts';
import { type BoundHttpServer, startHttpServer } from './http/http-server.ts';
import type { RequestHandler } from './http/request/handle-request.ts';
import type { Settings } from './settings/settings.ts';
import { type TlsFiles, tlsServerOptions } from './tls-files.ts';

/** Slower requests are attacks or broken clients; a normal client sends its few hundred bytes at once. */
export const ARRIVAL_TIMEOUT_MS = 20_000;

export interface BoundPorts {
  /** The address HTTP actually listens on; empty for a Unix socket. */
  host: string;
  /** 0 for a Unix socket. */
  httpPort: number;
  /** 0 if gRPC is off. */
  grpcPort: number;
  /** Uses other certificates for new connections; existing ones are not affected. Only if TLS was on at start. */
  renewTls(files: TlsFiles): void;
  /** Makes clients reconnect: their certificates may have been revoked. */
  retireConnections(): void;
  /** Stops accepting, waits up to `drainMs` for running responses, then closes the rest. */
  stop(drainMs: number): Promise<void>;
}

export interface PortOptions {
  tls: TlsFiles | undefined;
  /** Whether the settings came from a command line: messages then name flags instead of options. */
  hasFlags: boolean;
  onRequest: RequestHandler;
  /** Called with the first connection to the gRPC port. */
  openGrpcAdapter(): Promise<GrpcAdapter>;
  /** Called when a connection cannot be accepted, or `openGrpcAdapter` fails. */
  onFailure(error: unknown): void;
}

/** Binds gRPC, then HTTP: the gRPC port reported over HTTP is already open. */
async function bindPorts(settings: Settings, options: PortOptions): Promise<BoundPorts> {
  const { http, grpc } = settings;
  const { onRequest, openGrpcAdapter: openAdapter, onFailure, hasFlags } = options;
  const tls = options.tls && tlsServerOptions(options.tls);
  const { host, socket, maxHeaderBytes, stallTimeoutMs } = http;
  const rpc = grpc.enabled
    ? await startGrpcServer({ host, port: grpc.port, tls, openAdapter, onFailure }).catch(async (error) => {
        throw await explainBindError(error, 'grpc.port', { ...settings, hasFlags });
      })
    : NO_GRPC;
  let web: BoundHttpServer;
  try {
    web = await startHttpServer({
      host,
      port: http.port,
      socket,
      maxHeaderBytes,
      arrivalTimeoutMs: ARRIVAL_TIMEOUT_MS,
      stallTimeoutMs,
      tls,
      onRequest,
      onHttp2Request: onRequest,
      // The only route with WebSockets is one of Loki's.
      onUpgrade: settings.loki.enabled ? onRequest : undefined,
      onFailure,
    });
  } catch (error) {
    await rpc.stop(0);
    throw socket === ''
      ? await explainBindError(error, 'http.port', { ...settings, hasFlags })
      : new StartError(`http.socket ${socket} cannot be bound: ${errorMessage(error)}`, {
          code: 'PORT_UNAVAILABLE',
          cause: error,
        });
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

const NO_GRPC: BoundGrpcServer = { port: 0, renewTls() {}, retireConnections() {}, async stop() {} };

/** Pairs of default ports to try when other nodes use them. */
const MAX_PAIRS = 16;

export interface DefaultPorts {
  /** Whether the port is the default: if another Porthole node uses it, the next pair is tried. */
  http: boolean;
  grpc: boolean;
}

/** Like `bindPorts`, but if another Porthole node uses a default port, binds the next free pair and returns a warning. */
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
      return taken.length === 0 ? bound : { ...bound, warning: describePortChange(taken, bound, options) };
    } catch (error) {
      const isOurs = error instanceof PortConflict && (error.port === http.port ? isDefault.http : isDefault.grpc);
      if (!isOurs || (taken.length === 0 && !error.isPorthole) || taken.length >= MAX_PAIRS) throw error;
      taken.push(error);
    }
  }
}

function describePortChange(
  [first]: readonly PortConflict[],
  { httpPort, grpcPort }: BoundPorts,
  { hasFlags }: PortOptions,
): string {
  const [reason = ''] = first?.message.split(': choose') ?? [];
  const [http, grpc] = (['http.port', 'grpc.port'] as const).map((setting) => nameSetting(setting, hasFlags));
  const listening = grpcPort === 0 ? `${httpPort}` : `${httpPort} (gRPC ${grpcPort})`;
  return `${reason}: listening on ${listening} instead; choose others with ${http} and ${grpc}`;
}

/** As the reader writes it: on a command line or in a program. */
function nameSetting(setting: 'http.port' | 'grpc.port', hasFlags: boolean): string {
  return hasFlags ? `--${setting.replace('.', '-')}` : `the option settings.${setting}`;
}

/** A port that is in use, and by whom. */
class PortConflict extends StartError {
  readonly port: number;
  readonly isPorthole: boolean;

  constructor(port: number, message: string, { isPorthole = false, cause = undefined as unknown } = {}) {
    super(message, { code: 'PORT_UNAVAILABLE', cause });
    this.port = port;
    this.isPorthole = isPorthole;
  }
}

/** Explains why a port could not be bound, and what to do about it. */
async function explainBindError(
  error: unknown,
  setting: 'http.port' | 'grpc.port',
  { http, grpc, tls, hasFlags }: Settings & { hasFlags: boolean },
): Promise<StartError> {
  const port = setting === 'http.port' ? http.port : grpc.port;
  const reason = errorMessage(error);
  if (!hasCode(error, 'EADDRINUSE'))
    return new StartError(`${setting} ${port} cannot be bound: ${reason}`, { code: 'PORT_UNAVAILABLE', cause: error });
  const isTls = tls.certFile !== '';
  // The gRPC port usually belongs to a node with the HTTP port one below, or with the HTTP port we want ourselves.
  const candidates = setting === 'http.port' ? [port] : [http.port, port - 1];
  const node = await findNode(
    candidates.filter((at) => at > 0),
    { host: http.host, isTls, grpcPort: setting === 'grpc.port' ? port : undefined },
  );
  const { findPortOwner } = await import('./doctor/open-files.ts');
  const owner = node ?? (await findPortOwner(port)) ?? 'another program';
  const name = nameSetting(setting, hasFlags);
  const message = `port ${port} is in use by ${owner}: choose another one with ${name}${hasFlags ? ' N' : ''} (0: any free port)`;
  return new PortConflict(port, message, { isPorthole: node !== undefined, cause: error });
}

interface NodeSearch {
  host: string;
  isTls: boolean;
  /** The node must use this gRPC port; one that requires a token does not reveal its port and may use it. */
  grpcPort: number | undefined;
}

async function findNode(ports: readonly number[], { host, isTls, grpcPort }: NodeSearch): Promise<string | undefined> {
  const { probeNode } = await import('./doctor/probe-node.ts');
  for (const port of new Set(ports)) {
    // clock: compared with the start of another process
    const node = await probeNode({ host, port, isTls, nowMs: Date.now });
    if (!node || (grpcPort !== undefined && (node.grpcPort ?? grpcPort) !== grpcPort)) continue;
    return node.version === undefined ? 'a running Porthole node' : `a running Porthole node (version ${node.version})`;
  }
  return undefined;
}
