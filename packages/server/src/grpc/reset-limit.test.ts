import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants, createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../logs/src/testing/eventually.ts';
import { limitResets } from './reset-limit.ts';

/** A client of a server that answers nothing but `/answered`; the time is the test's. */
async function openSession(time: { ms: number }): Promise<{ client: ClientHttp2Session; session: ServerHttp2Session }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const arrived = once(server, 'session');
  server.on('session', (session) => limitResets(session, () => time.ms));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    if (headers[':path'] === '/answered') stream.respond();
  });
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.on('error', () => {});
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return { client, session: (await arrived)[0] };
}

/** One after the other: each has reached the server when it is taken back. */
async function takeBack(client: ClientHttp2Session, times: number): Promise<void> {
  for (let count = 0; count < times && !client.closed && !client.destroyed; count++) {
    const stream = client.request({ ':path': '/taken-back' });
    stream.on('error', () => {});
    stream.close(constants.NGHTTP2_CANCEL);
    await new Promise((resolve) => stream.once('close', resolve));
  }
}

it('a connection may take back as many calls as it can have open, and some each second', async () => {
  const time = { ms: 0 };
  const { client, session } = await openSession(time);
  await takeBack(client, 250);
  for (let second = 1; second < 5; second++) {
    time.ms += 1000;
    await takeBack(client, 32);
  }
  expect(session.destroyed).toBe(false);
});

it('a connection that takes back more is closed', async () => {
  const { client, session } = await openSession({ ms: 0 });
  await takeBack(client, 300);
  await eventually(() => expect(session.destroyed).toBe(true));
});

it('leaving a call that is being answered is no taking back', async () => {
  const { client, session } = await openSession({ ms: 0 });
  for (let count = 0; count < 300; count++) {
    const stream = client.request({ ':path': '/answered' });
    stream.on('error', () => {});
    await once(stream, 'response');
    stream.close(constants.NGHTTP2_CANCEL);
  }
  expect(session.destroyed).toBe(false);
});
