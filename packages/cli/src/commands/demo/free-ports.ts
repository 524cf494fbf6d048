import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * Finds free ports. All are held until the last one is known, so that they differ; afterwards nothing reserves them, but the
 * system hands out others first.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
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
