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
import { hasCode } from '../errors.ts';
import { startTestNode } from '../testing/test-node.ts';
import { limitResets } from '../transport/connections.ts';
import { connect as call } from './testing/connect.ts';

/** A client of a server that responds only to `/responds`; the time is the test's. */
async function openSession(time: { ms: number }): Promise<{ client: ClientHttp2Session; session: ServerHttp2Session }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const arrived = once(server, 'session');
  server.on('session', (session) => limitResets(session, { burst: 256, now: () => time.ms }));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    if (headers[':path'] === '/responds') stream.respond();
    if (headers[':path'] === '/ends') stream.respond({}, { endStream: true });
  });
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.on('error', () => {});
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return { client, session: (await arrived)[0] };
}

/** One after the other: each has reached the server when it is cancelled. */
async function cancelCalls(client: ClientHttp2Session, times: number): Promise<void> {
  for (let count = 0; count < times && !client.closed && !client.destroyed; count++) {
    const stream = client.request({ ':path': '/cancelled' });
    stream.on('error', () => {});
    stream.close(constants.NGHTTP2_CANCEL);
    await new Promise((resolve) => stream.once('close', resolve));
  }
}

it('a connection may cancel as many calls as it can have open, and some each second', async () => {
  const time = { ms: 0 };
  const { client, session } = await openSession(time);
  await cancelCalls(client, 250);
  for (let second = 1; second < 5; second++) {
    time.ms += 1000;
    await cancelCalls(client, 32);
  }
  expect(session.destroyed).toBe(false);
});

it('a connection that cancels more is closed', async () => {
  const { client, session } = await openSession({ ms: 0 });
  await cancelCalls(client, 300);
  await eventually(() => expect(session.destroyed).toBe(true));
});

it('calls cancelled during the response count, too', async () => {
  const { client, session } = await openSession({ ms: 0 });
  for (let count = 0; count < 300 && !client.closed && !client.destroyed; count++) {
    const stream = client.request({ ':path': '/responds' });
    stream.on('error', () => {});
    await new Promise((resolve) => stream.once('response', resolve).once('close', resolve));
    stream.close(constants.NGHTTP2_CANCEL);
  }
  await eventually(() => expect(session.destroyed).toBe(true));
});

it('calls that end do not count', async () => {
  const { client, session } = await openSession({ ms: 0 });
  for (let count = 0; count < 300; count++) {
    const stream = client.request({ ':path': '/ends' }).resume();
    await once(stream, 'close');
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
  'limits the connections of a running node, which survives: calls %s, cancelled at once',
  async (_name, headers) => {
    const { running } = await startTestNode();
    const client = connect(`http://127.0.0.1:${running.node.grpcPort}`);
    client.on('error', () => {});
    onTestFinished(() => client.destroy());
    await once(client, 'connect');
    const closed = new Promise((resolve) => client.once('close', resolve));
    // Many at a time: some more are allowed each second.
    let count = 1;
    for (; !client.closed && !client.destroyed; count++) {
      const stream = openCall(client, { ':method': 'POST', ...headers });
      if (!stream) break;
      stream.on('error', () => {});
      stream.close(constants.NGHTTP2_CANCEL);
      if (count % 50 === 0) await roundTrip(client);
    }
    await closed;
    // Long before the limit of Node.js, which is 1,000 at once.
    expect(count).toBeLessThan(700);
    // Without the private field of the library that the limit needs, there is no service.
    await call(running.node.grpcPort).call('ListLogs', {});
  },
);

/** The server has then handled everything sent before. */
function roundTrip(client: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    client.once('close', resolve);
    if (!client.destroyed) client.ping(() => resolve());
  });
}

/** `undefined` if the server has just announced that it accepts no more. */
function openCall(client: ClientHttp2Session, headers: Record<string, string>): ClientHttp2Stream | undefined {
  try {
    return client.request(headers);
  } catch (error) {
    if (!hasCode(error, 'ERR_HTTP2_GOAWAY_SESSION', 'ERR_HTTP2_INVALID_SESSION')) throw error;
    return undefined;
  }
}
