import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { probeNode } from './probe-node.ts';

it.each([
  ['says nothing', ''],
  ['switches to another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
  ['ends in the middle of its response', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"versions":'],
  ['sends more than a node does', `HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${' '.repeat(100_000)}`],
])('a server that %s is no node', async (_what, bytes) => {
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(bytes)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect(await probeNode({ host: '127.0.0.1', port, isTls: false, nowMs: Date.now })).toBeUndefined();
});
