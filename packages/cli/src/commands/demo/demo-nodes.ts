// owner: servers that are closed at once; an error is the answer
import { type AddressInfo, createServer, type Server } from 'node:net';
import { demoIncident } from './demo-incident.ts';
import { BROKEN_VOLUME, type Mood } from './demo-logs.ts';

/** One demo node. */
export interface DemoNode extends Mood {
  seed: number;
  config: DemoConfig;
}

export const VOLUME = 'data';

/** Fixed: every demo is the same. */
const SEED = 7300;

/** Far enough apart that no two logs have the same seed. */
const SEED_STEP = 1000;

/** A single node has some of everything. */
const ALONE = 0.004;

/** One of several nodes is unhealthy; the others have this share of errors. */
const CALM = 0.001;
const SICK = 0.004;

/** The demo nodes: the second has errors and a setting that was changed, the third an equivalent value written differently. */
export function demoNodes(count: number, nowMs: number): DemoNode[] {
  const ids = Array.from({ length: count }, (_, index) => ({ id: `demo-broker-${index + 1}` }));
  const incident = demoIncident(ids, nowMs);
  return ids.map(({ id }, index) => ({
    id,
    incident,
    seed: SEED + index * SEED_STEP,
    trouble: count === 1 ? ALONE : index === 1 ? SICK : CALM,
    config: {
      volume: index === 1 && count > 1 ? BROKEN_VOLUME : VOLUME,
      idleTimeout: index === 2 ? '5000ms' : '5s',
      httpPort: 9000 + index * 10,
    },
  }));
}

/** What differs between the demo nodes. */
interface DemoConfig {
  volume: string;
  idleTimeout: string;
  httpPort: number;
}

/** The configuration of a demo node. Its fake secrets show how masking works. */
export function demoConfig({ volume, idleTimeout, httpPort }: DemoConfig): string {
  return `## Configuration of a demo database node, written by "porthole demo" and removed when it stops.

## Where the broker finds its cluster.
[coordinator]
## Default: /lindb-cluster
namespace = "/lindb-cluster"
endpoints = ["http://etcd-1:2379", "http://lindb:made-up-etcd-pass@etcd-2:2379"]
lease-ttl = "10s"
username = "lindb"
## Default: "made-up-pass"
password = "made-up-pass"

[query]
query-concurrency = 30
idle-timeout = "${idleTimeout}"
max-tokens = 4096

[broker]
slow-sql = "30s"

[storage.wal]
volume = "${volume}"
page-size = "128 MiB"

[broker.http]
port = ${httpPort}
idle-timeout = "2m0s"

[broker.grpc]
port = ${httpPort + 1}
max-concurrent-streams = 1024

[broker.user]
username = "admin"
password = "made-up-admin-pass"

[monitor]
url = "http://broker:made-up-monitor-pass@127.0.0.1:9000/api/v1/write?db=_internal"
report-interval = "10s"

[logging]
dir = "./data/log"
level = "info"
maxsize = "100 MiB"
maxbackups = 3
maxage = 7
`;
}

/**
 * Finds free ports. All are held until the last one is known, so that they differ; afterwards nothing reserves them, but the
 * system hands out others first.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = [];
  try {
    for (let index = 0; index < count; index++) servers.push(await hold(0));
    return servers.map((server) => (server.address() as AddressInfo).port);
  } finally {
    await Promise.all(servers.map(release));
  }
}

export async function isFree(port: number): Promise<boolean> {
  try {
    await release(await hold(port));
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    return false; // another one is used
  }
}

function hold(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.on('error', reject).listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}

function release(server: Server): Promise<unknown> {
  return new Promise((resolve) => server.close(resolve));
}

/** More than this is no bad luck. */
const MAX_DRAWS = 5;

/**
 * Starts something on ports that were free when they were drawn. Where another program was faster, others are drawn; one
 * that the user has chosen stays. What was started on some of them, `start` must have stopped when it fails.
 */
export async function startOnFreePorts<T>(
  { draw, chosen }: { draw: () => Promise<readonly string[]>; chosen?: string | undefined },
  start: (ports: readonly string[]) => Promise<T>,
): Promise<T> {
  for (let draws = 1; ; draws++) {
    const ports = await draw();
    try {
      return await start(ports);
    } catch (error) {
      const taken = findTakenPort(error);
      if (draws === MAX_DRAWS || taken === chosen || !ports.some((port) => port === taken)) throw error;
    }
  }
}

function findTakenPort(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const isTaken = 'code' in error && error.code === 'EADDRINUSE' && 'port' in error;
  return isTaken ? String(error.port) : findTakenPort(error.cause);
}
