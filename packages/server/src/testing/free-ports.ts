import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ports that systems give to whoever asks for any: no other test gets one while its node is restarted. */
const FIRST = 20_000;
const COUNT = 12_000;

/** Threads that run tests at the same time, in all checkouts on this machine; each has ports of its own. */
const SLICES = 24;
const SLICE_PORTS = COUNT / SLICES;

/** The first port of this thread. */
let first: Promise<number> | undefined;

/** Where the next search starts. A port is not given twice: its node may be stopped right now, to be started again. */
let next = Math.floor(Math.random() * SLICE_PORTS);

/** Ports that nobody listens on now. Held all at once while they are found, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  first ??= claimSlice();
  const start = await first;
  const servers: Server[] = [];
  while (servers.length < count) {
    const server = createServer();
    server.listen(start + (next++ % SLICE_PORTS), '127.0.0.1');
    // Taken: another one is tried.
    if (await isListening(server)) servers.push(server);
  }
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/**
 * Takes a part of the ports that no other thread has, for as long as this thread lives: it holds a name that the system
 * gives once at a time, and takes back when its holder has ended in whatever way.
 */
async function claimSlice(): Promise<number> {
  for (let slice = 0; slice < SLICES; slice++) {
    const holder = createServer();
    // Not a path: names that start with a zero are not in the file system, and like ports they belong to the network.
    holder.listen(`\0porthole-test-ports-${slice}`);
    if (!(await isListening(holder))) continue;
    holder.unref();
    return FIRST + slice * SLICE_PORTS;
  }
  throw new Error(`more than ${SLICES} threads run tests with fixed ports`);
}

async function isListening(server: Server): Promise<boolean> {
  return once(server, 'listening').then(
    () => true,
    () => false,
  );
}
