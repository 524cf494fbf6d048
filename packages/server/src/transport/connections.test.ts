import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from './connections.ts';

function createTestServer() {
  const server = createServer((socket) => socket.end('here'));
  onTestFinished(async () => {
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  });
  return server;
}

it('a connection that the system cannot accept is reported, every time, and the next one is served', async () => {
  const server = createTestServer();
  const errors: unknown[] = [];
  await listen(server, { host: '127.0.0.1', port: 0 }, (error) => errors.push(error));
  // As Node.js does when accept(2) fails: there is no way to have a system do so.
  for (const code of ['ENOBUFS', 'ENFILE']) server.emit('error', Object.assign(new Error('accept'), { code }));
  expect(errors).toMatchObject([{ code: 'ENOBUFS' }, { code: 'ENFILE' }]);
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [chunk] = (await once(client, 'data')) as [Buffer];
  expect(chunk.toString()).toBe('here');
});

it('an address that is in use rejects, and another one can be tried', async () => {
  const [first, second] = [createTestServer(), createTestServer()];
  const ignore = (error: Error) => expect(error).toBeUndefined();
  await listen(first, { host: '127.0.0.1', port: 0 }, ignore);
  const { port } = first.address() as AddressInfo;
  const taken = listen(second, { host: '127.0.0.1', port }, ignore);
  await expect(taken).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await listen(second, { host: '127.0.0.1', port: 0 }, ignore);
  expect(second.listenerCount('error')).toBe(1);
});
