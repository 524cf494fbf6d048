import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface CuttingProxy {
  url: string;
  /** Connections cut so far. */
  cuts: number;
  cutAll(): void;
}

export interface Cut {
  /** So many bytes of the responses are forwarded; `Infinity`: all. */
  at: number;
  /** Closed, reset, left open without another byte, or going on with bytes that make no sense. */
  end: 'fin' | 'rst' | 'stall' | 'garbage';
}

/** Forwards connections to a port, and cuts each one, with FIN if only the number of bytes is given. */
export async function startCuttingProxy(port: number, nextCut: () => number | Cut): Promise<CuttingProxy> {
  const proxy: CuttingProxy = { url: '', cuts: 0, cutAll: () => {} };
  const sockets = new Set<Socket>();
  proxy.cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    const node = connect({ host: '127.0.0.1', port });
    const next = nextCut();
    const { at, end } = typeof next === 'number' ? { at: next, end: 'fin' } : next;
    let left = at;
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
    let isCut = false;
    node.on('data', (data: Buffer) => {
      if (!isCut) client.write(data.subarray(0, left));
      else if (end === 'garbage') client.write(Buffer.alloc(data.length, 0xa5));
      left -= data.length;
      if (left > 0 || isCut || client.destroyed) return;
      isCut = true;
      proxy.cuts++;
      if (end === 'garbage') client.write(Buffer.alloc(-left, 0xa5));
      if (end === 'fin') client.end(() => client.destroy()); // which closes the other side, too
      if (end === 'rst') setImmediate(() => client.resetAndDestroy()); // once what came before it is on its way
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.cutAll();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}
