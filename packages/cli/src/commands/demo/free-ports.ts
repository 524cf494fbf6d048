import { type AddressInfo, createServer, type Server } from 'node:net';

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
  } catch {
    return false; // whatever the reason: another one is used
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
