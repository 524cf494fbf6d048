import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startHttpServer } from './http-server.ts';

const HOUR_MS = 3_600_000;

/** More than the system takes for a reader that does not read. */
const BODY = Buffer.alloc(32 * 1024 * 1024, 'x');

async function serve({ arrivalTimeoutMs = HOUR_MS } = {}) {
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    maxHeaderBytes: 16_384,
    arrivalTimeoutMs,
    stallTimeoutMs: HOUR_MS,
    tls: undefined,
    onRequest: (_, response) => response.end(BODY),
    onFailure: (error) => expect(error).toBeUndefined(),
  });
  onTestFinished(() => server.stop(0));
  return server;
}

it('a stopping server lets a slow reader have the bytes that were already written', async () => {
  const server = await serve();
  const outgoing = request({ port: server.port, headers: { connection: 'keep-alive' } }).end();
  const [response] = await once(outgoing, 'response');
  const stopped = server.stop(HOUR_MS);
  let bytes = 0;
  for await (const part of response) bytes += part.length;
  expect(bytes).toBe(BODY.length);
  await stopped;
});

it('a stopping server closes connections without requests, and accepts no new ones', async () => {
  const server = await serve();
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  await server.stop(HOUR_MS);
  await closed;
  const late = connect(server.port, '127.0.0.1');
  const [error] = await once(late, 'error');
  expect(error.code).toBe('ECONNREFUSED');
});

it('a request whose head does not come to its end in time is refused with 408, and its connection closed', async () => {
  const server = await serve({ arrivalTimeoutMs: 80 });
  const socket = connect(server.port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
  let received = '';
  for await (const part of socket) received += part;
  expect(received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(received).toContain('"code":"REQUEST_TIMEOUT"');
});
