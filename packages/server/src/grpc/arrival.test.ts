import { type ClientHttp2Stream, connect } from 'node:http2';
import { expect, it, onTestFinished } from 'vitest';
import { startTestNode } from '../testing/test-node.ts';
import { serveState } from './testing/serve-state.ts';

/** An adapter of its own in front of a node, with short timeouts. */
async function startImpatient(arrivalTimeoutMs: number): Promise<number> {
  const { running } = await startTestNode();
  return (await serveState(running.state, { arrivalTimeoutMs })).port;
}

function begin(port: number, method: string): ClientHttp2Stream {
  const session = connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  const path = `/porthole.v1.NodeStateService/${method}`;
  return session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' });
}

it.each(['Describe', 'ViewLog'])('a call of %s whose request does not arrive is refused', async (method) => {
  const stream = begin(await startImpatient(50), method);
  const headers = await new Promise<Record<string, unknown>>((resolve) => stream.once('response', resolve));
  expect(headers).toMatchObject({ 'grpc-status': '4', 'porthole-code': 'REQUEST_TIMEOUT' });
});
