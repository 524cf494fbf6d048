import { createServer, IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openSocket, readToEnd } from '../testing/send-request.ts';
import { Connections } from './connections.ts';

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

it('a request that arrives between two others does not overtake the one that waits: it would have no connection', async () => {
  const begun: (string | undefined)[] = [];
  const server = createServer();
  let last: ServerResponse | undefined;
  new Connections(server, {
    secure: false,
    onRequest(request, response) {
      begun.push(request.url);
      response.once('close', () => {
        if (request.url === '/2') last?.assignSocket(request.socket);
        if (request.url !== '/1') return;
        const late = new IncomingMessage(request.socket);
        late.url = '/3';
        last = new ServerResponse(late);
        server.emit('request', late, last);
      });
      setImmediate(() => response.end());
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const socket = openSocket((server.address() as AddressInfo).port);
  onTestFinished(() => void socket.destroy());
  socket.write(['/1', '/2'].map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
  await eventually(() => expect(begun).toEqual(['/1', '/2', '/3']));
});
