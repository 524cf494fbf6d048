import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { eventually } from '@porthole/logs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { startTestNode } from '../testing/test-node.ts';
import { limitResets } from './grpc-adapter.ts';
import { connect as call } from './testing/connect.ts';

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

/** Calls that the library refuses by itself, and one that it knows. */
const CALLS: Readonly<Record<string, Record<string, string>>> = {
  'of a method': { ':path': '/porthole.v1.NodeStateService/FollowLogs', 'content-type': 'application/grpc' },
  'without a content type': { ':path': '/porthole.v1.NodeStateService/FollowLogs' },
  'of no method': { ':path': '/none', 'content-type': 'application/grpc' },
};

it.each(Object.entries(CALLS))(
  'limits the connections of a running node, which survives: calls %s, taken back at once',
  async (_name, headers) => {
    const { running } = await startTestNode();
    const client = connect(`http://127.0.0.1:${running.node.grpcPort}`);
    client.on('error', () => {});
    onTestFinished(() => client.destroy());
    await once(client, 'connect');
    const closed = new Promise((resolve) => client.once('close', resolve));
    // Many at a time: some more are allowed each second.
    for (let count = 1; !client.closed && !client.destroyed; count++) {
      const stream = openCall(client, { ':method': 'POST', ...headers });
      if (!stream) break;
      stream.on('error', () => {});
      stream.close(constants.NGHTTP2_CANCEL);
      if (count % 50 === 0) await new Promise((resolve) => stream.once('close', resolve));
    }
    await closed;
    // Without the private field of the library that the limit needs, there is no service.
    await call(running.node.grpcPort).call('ListLogs', {});
  },
);

/** `undefined` where the server has just said that it takes no more. */
function openCall(client: ClientHttp2Session, headers: Record<string, string>): ClientHttp2Stream | undefined {
  try {
    return client.request(headers);
  } catch {
    return undefined;
  }
}
