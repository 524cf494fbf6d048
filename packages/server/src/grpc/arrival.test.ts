import { type ClientHttp2Stream, connect } from 'node:http2';
import { expect, it, onTestFinished } from 'vitest';
import { openToAll, QUIET_ACCESS_LOG } from '../auth/testing/open-to-all.ts';
import type { Logger } from '../own-log/logger.ts';
import { startTestNode } from '../testing/test-node.ts';
import { StreamSlots } from '../transport/stream-slots.ts';
import { createGrpcAdapter } from './grpc-adapter.ts';
import { startGrpcServer } from './grpc-server.ts';

const HOUR_MS = 3_600_000;
const QUIET: Logger = { debug() {}, info() {}, warn() {}, error() {}, isEnabled: () => false };

/** An adapter of its own in front of a node, with short timeouts. */
async function startImpatient(arrivalTimeoutMs: number): Promise<number> {
  const { running } = await startTestNode();
  const server = await startGrpcServer({
    host: '127.0.0.1',
    port: 0,
    tls: undefined,
    onFailure() {},
    openAdapter: async () =>
      createGrpcAdapter({
        state: running.state,
        log: QUIET,
        arrivalTimeoutMs,
        maxRequestBytes: 1024,
        policy: {
          access: openToAll(),
          accessLog: QUIET_ACCESS_LOG,
          slots: new StreamSlots({ max: 1 }),
          metrics: {
            countRequest() {},
            countCut() {},
            countCall() {},
            countFault() {},
            render: async () => '',
            close() {},
          },
          checkRate: () => undefined,
          checkLocal: undefined,
          clock: () => ({ nowMs: Date.now(), offsetMsAt: () => 0 }),
          maxRecords: 1,
          searchBudgetMs: HOUR_MS,
          countBudgetMs: HOUR_MS,
          answerTimeoutMs: HOUR_MS,
          stallTimeoutMs: HOUR_MS,
          isStopping: () => false,
          stopping: new AbortController().signal,
          endFollows() {},
        },
      }),
  });
  onTestFinished(() => server.stop(0));
  return server.port;
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
