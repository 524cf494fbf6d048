import { findPortOwner } from './doctor/find-port-owner.ts';
import { probeNode } from './doctor/probe-node.ts';
import type { Settings } from './settings/settings.ts';
import { StartError } from './start-error.ts';

/** A port that is in use, and by whom. */
export class PortConflict extends StartError {
  readonly port: number;
  readonly isPorthole: boolean;

  constructor(port: number, message: string, { isPorthole = false, cause = undefined as unknown } = {}) {
    super(message, { cause });
    this.port = port;
    this.isPorthole = isPorthole;
  }
}

/** Explains why a port could not be bound, and what to do about it. */
export async function explainBindError(
  error: unknown,
  setting: 'http.port' | 'grpc.port',
  { http, grpc, tls }: Settings,
): Promise<StartError> {
  const port = setting === 'http.port' ? http.port : grpc.port;
  const reason = error instanceof Error ? error.message : String(error);
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'))
    return new StartError(`${setting} ${port} cannot be bound: ${reason}`, { cause: error });
  const isTls = tls.certFile !== '';
  // The gRPC port usually belongs to a node with the HTTP port one below, or with the HTTP port we want ourselves.
  const candidates = setting === 'http.port' ? [port] : [http.port, port - 1];
  const node = await findNode(
    candidates.filter((at) => at > 0),
    { host: http.host, isTls, grpcPort: setting === 'grpc.port' ? port : undefined },
  );
  const owner = node ?? (await findPortOwner(port)) ?? 'another program';
  const flag = `--${setting.replace('.', '-')}`;
  const message = `port ${port} is in use by ${owner}: choose another one with ${flag} N (0: any free port)`;
  return new PortConflict(port, message, { isPorthole: node !== undefined, cause: error });
}

interface NodeSearch {
  host: string;
  isTls: boolean;
  /** The node must use this gRPC port; one that requires a token does not reveal its port and may use it. */
  grpcPort: number | undefined;
}

async function findNode(ports: readonly number[], { host, isTls, grpcPort }: NodeSearch): Promise<string | undefined> {
  for (const port of new Set(ports)) {
    const node = await probeNode({ host, port, isTls, nowMs: Date.now });
    if (!node || (grpcPort !== undefined && (node.grpcPort ?? grpcPort) !== grpcPort)) continue;
    return node.version === undefined ? 'a running Porthole node' : `a running Porthole node (version ${node.version})`;
  }
  return undefined;
}
