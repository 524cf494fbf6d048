import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openSocket, readToEnd } from '../testing/send-request.ts';
import { Connections } from './connections.ts';

it('a pipelined request whose client leaves before its turn is not begun', async () => {
  const begun: (string | undefined)[] = [];
  const server = createServer();
  new Connections(server, {
    secure: false,
    onRequest(request, response) {
      begun.push(request.url);
      // Between the end of this response and the beginning of the next request.
      response.once('close', () => process.nextTick(() => request.socket.destroy()));
      setImmediate(() => response.end());
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
  new Connections(server, {
    secure: false,
    onRequest(request, response) {
      begun.push(request.url);
      if (request.url === '/1')
        response.once('close', () => {
          const late = new IncomingMessage(request.socket);
          late.url = '/3';
          server.emit('request', late, new ServerResponse(late));
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
