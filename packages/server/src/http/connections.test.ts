import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openSocket, readToEnd } from '../testing/send-request.ts';
import { Connections } from './http-server.ts';

it.each<[string, RequestListener]>([
  [
    'whose client leaves before its turn',
    (request, response) => {
      // Between the end of this response and the beginning of the next request.
      response.once('close', () => process.nextTick(() => request.socket.destroy()));
      setImmediate(() => response.end());
    },
  ],
  [
    'behind a response that closes the connection',
    (_, response) => {
      response.setHeader('connection', 'close');
      setImmediate(() => response.end('x'.repeat(1_000_000)));
    },
  ],
])('a pipelined request %s is not begun: its response would never be closed', async (_, respond) => {
  const begun: (string | undefined)[] = [];
  const server = createServer();
  new Connections(server, {
    secure: false,
    stallTimeoutMs: 1000,
    onRequest(request, response) {
      begun.push(request.url);
      respond(request, response);
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const socket = openSocket((server.address() as AddressInfo).port);
  socket.write(['/1', '/2'].map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
  await readToEnd(socket);
  await new Promise(setImmediate);
  expect(begun).toEqual(['/1']);
});
