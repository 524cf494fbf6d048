import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ports that systems give to whoever asks for any: no other test gets one while its node is restarted. */
const FIRST = 20_000;
const COUNT = 12_000;

/** Test processes that run at the same time have different numbers, and each has ports of its own. */
const SLICES = 16;
const SLICE_PORTS = COUNT / SLICES;
const slice = Number(process.env.VITEST_POOL_ID ?? 0) % SLICES;

/** Where the next search starts. A port is not given twice: its node may be stopped right now, to be started again. */
let next = Math.floor(Math.random() * SLICE_PORTS);

/** Ports that nobody listens on now. Held all at once while they are found, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = [];
  while (servers.length < count) {
    const server = createServer();
    server.listen(FIRST + slice * SLICE_PORTS + (next++ % SLICE_PORTS), '127.0.0.1');
    // Taken: another one is tried.
    const isTaken = await once(server, 'listening').then(
      () => false,
      () => true,
    );
    if (!isTaken) servers.push(server);
  }
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
