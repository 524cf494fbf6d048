import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ports that systems give to whoever asks for any: no other test gets one while its node is restarted. */
const FIRST = 20_000;
const COUNT = 12_000;

/** Ports that nobody listens on now. Held all at once while they are found, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = [];
  while (servers.length < count) {
    const server = createServer();
    server.listen(FIRST + Math.floor(Math.random() * COUNT), '127.0.0.1');
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
