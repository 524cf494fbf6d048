import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAuthority, issueForNode } from '../auth/testing/certificates.ts';
import { startGrpcServer } from '../grpc/grpc-server.ts';
import { startHttpServer } from './http-server.ts';

const HOUR_MS = 3_600_000;

interface Limits {
  timeoutMs?: number;
  mostHandshakes?: number;
}

/** Both servers, with one certificate. */
const SERVERS = {
  async http({ timeoutMs = HOUR_MS, mostHandshakes = 1000 }: Limits) {
    const { cert, key } = issueForNode(createAuthority(tempDir()), tempDir());
    const server = await startHttpServer({
      host: '127.0.0.1',
      port: 0,
      maxHeaderBytes: 16_384,
      arrivalTimeoutMs: timeoutMs,
      stallTimeoutMs: HOUR_MS,
      tls: { cert, key },
      mostHandshakes,
      onRequest: (_, response) => response.end('ok'),
      onFailure: (error) => expect(error).toBeUndefined(),
    });
    onTestFinished(() => server.stop(0));
    return server.port;
  },
  async grpc({ timeoutMs = HOUR_MS, mostHandshakes = 1000 }: Limits) {
    const { cert, key } = issueForNode(createAuthority(tempDir()), tempDir());
    const server = await startGrpcServer({
      host: '127.0.0.1',
      port: 0,
      tls: { cert, key },
      handshakeTimeoutMs: timeoutMs,
      mostHandshakes,
      openAdapter: async () => ({ accept: () => {}, stop: async () => {} }),
      onFailure: () => {},
    });
    onTestFinished(() => server.stop(0));
    return server.port;
  },
};

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {}); // cut by the server
  await once(socket, 'connect');
  return socket;
}

/** Closed in order or by a reset: which of them depends on what was on its way. */
async function closed(socket: Socket): Promise<void> {
  socket.resume();
  if (!socket.destroyed) await new Promise<void>((resolve) => socket.once('close', () => resolve()));
}

/** The first bytes of a real handshake. */
async function clientHello(): Promise<Buffer> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connectTls({ port: (server.address() as { port: number }).port, host: '127.0.0.1' });
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.on('error', () => {}); // reset by the client, which is not read to its end
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  server.close();
  return bytes;
}

describe.each(['http', 'grpc'] as const)('a TLS handshake with the %s server', (kind) => {
  it('that does not begin, stops midway or drips is cut after its time', async () => {
    const hello = await clientHello();
    const port = await SERVERS[kind]({ timeoutMs: 300 });
    const [silent, half, dripping] = [await open(port), await open(port), await open(port)];
    half.write(hello.subarray(0, hello.length / 2));
    let at = 0;
    const drip = setInterval(() => dripping.write(hello.subarray(at, ++at)), 50);
    await Promise.all([silent, half, dripping].map((socket) => closed(socket)));
    clearInterval(drip);
    expect(at).toBeLessThan(hello.length);
  });

  it('is refused while too many are in progress; finished ones do not count', async () => {
    const port = await SERVERS[kind]({ mostHandshakes: 3 });
    const done = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const socket = connectTls({
          port,
          host: '127.0.0.1',
          rejectUnauthorized: false,
          ALPNProtocols: ['h2', 'http/1.1'],
        });
        onTestFinished(() => void socket.destroy());
        await once(socket, 'secureConnect');
        return socket;
      }),
    );
    const pending = [await open(port), await open(port), await open(port)];
    const refused = await open(port);
    await closed(refused);
    expect([...done, ...pending].map(({ destroyed }) => destroyed)).toEqual(Array(6).fill(false));
    pending[0]?.destroy();
  });
});
