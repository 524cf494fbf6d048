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
