import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface CuttingProxy {
  url: string;
  /** Connections cut so far. */
  cuts: number;
}

/**
 * Forwards connections to a port, and cuts each one after this many bytes of its responses; `Infinity` never cuts.
 */
export async function startCuttingProxy(port: number, nextCut: () => number): Promise<CuttingProxy> {
  const proxy: CuttingProxy = { url: '', cuts: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const node = connect({ host: '127.0.0.1', port });
    let left = nextCut();
    for (const socket of [client, node]) {
      sockets.add(socket);
      socket.on('error', () => {}); // of the other side of a cut
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        node.destroy();
      });
    }
    client.pipe(node);
    node.on('data', (data: Buffer) => {
      client.write(data.subarray(0, left));
      left -= data.length;
      if (left > 0 || client.destroyed) return;
      proxy.cuts++;
      client.end(() => client.destroy());
      node.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}
