import { expect, it } from 'vitest';
import { catchFailure } from './testing/catch-failure.ts';
import { JSON_HEADERS, respondWith, startOddServer } from './testing/odd-server.ts';
import { testClient, testClock } from './testing/test-client.ts';

it.each([408, 429, 502, 503, 504])('%i is retried, with growing delays', async (status) => {
  const odd = await startOddServer(respondWith(status, ''));
  const clock = testClock();
  const client = testClient({ url: odd.url, retries: 6, backoffMs: 100, maxBackoffMs: 1000 }, clock);
  expect(await catchFailure(client.config())).toMatchObject({ status });
  expect(odd.requests).toHaveLength(7);
  expect(clock.waits).toEqual([100, 200, 400, 800, 1000, 1000]);
});

it.each([400, 401, 404, 410, 500])('%i is not retried', async (status) => {
  const odd = await startOddServer(respondWith(status, ''));
  expect(await catchFailure(testClient({ url: odd.url }).config())).toMatchObject({ status });
  expect(odd.requests).toHaveLength(1);
});

it('a configuration that is broken is not retried, though its status is 503', async () => {
  const odd = await startOddServer(respondWith(503, '{"code":"CONFIG_UNAVAILABLE","detail":"line 3"}'));
  const error = await catchFailure(testClient({ url: odd.url }).config());
  expect(error).toMatchObject({ code: 'CONFIG_UNAVAILABLE', isRetryable: false });
  expect(odd.requests).toHaveLength(1);
});

it('the wait is a random part of the longest one', async () => {
  const odd = await startOddServer(respondWith(503, ''));
  const clock = testClock();
  clock.random = () => 0.25;
  await catchFailure(testClient({ url: odd.url, backoffMs: 100 }, clock).config());
  expect(clock.waits).toEqual([25, 50, 100]);
});

it.each([
  ['2', 2000],
  ['Sun, 15 Nov 2026 12:00:03 GMT', 3000],
  ['Sun, 15 Nov 2026 11:00:00 GMT', 0],
  ['3600', 5000],
  ['soon', 200],
])('Retry-After: %s is waited for %i ms', async (after, waitMs) => {
  const odd = await startOddServer((_request, response, number) => {
    if (number > 1) response.writeHead(200, JSON_HEADERS).end('[]');
    else response.writeHead(503, { 'retry-after': after }).end('{"code":"TOO_MANY_STREAMS","detail":"busy"}');
  });
  const clock = testClock();
  expect(await testClient({ url: odd.url }, clock).listLogs()).toEqual([]);
  expect(clock.waits).toEqual([waitMs]);
});

it('the error has the delay that the node requested', async () => {
  const odd = await startOddServer(
    respondWith(429, '{"code":"RATE_LIMITED","detail":"slow down"}', { 'retry-after': '7' }),
  );
  const error = await catchFailure(testClient({ url: odd.url, retries: 0 }).config());
  expect(error).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 7000, message: 'slow down' });
});

it('a stream is retried only until its head has arrived', async () => {
  const odd = await startOddServer((_request, response, number) => {
    if (number < 3) response.destroy();
    else response.writeHead(200).write('part', () => response.destroy());
  });
  const { chunks } = await testClient({ url: odd.url }).viewLog({ file: 'a', sizeBytes: 10 });
  expect(await catchFailure(chunks)).toMatchObject({ code: 'UNREACHABLE' });
  expect(odd.requests).toHaveLength(3);
});

it('a signal ends the waiting at once', async () => {
  const odd = await startOddServer(respondWith(503, ''));
  const controller = new AbortController();
  const clock = testClock();
  clock.wait = (_ms, signal) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      controller.abort(new Error('enough'));
    });
  expect(await catchFailure(testClient({ url: odd.url }, clock).config({ signal: controller.signal }))).toBe(
    controller.signal.reason,
  );
  expect(odd.requests).toHaveLength(1);
});

it('an aborted signal sends nothing', async () => {
  const odd = await startOddServer(respondWith(200, '[]'));
  const client = testClient({ url: odd.url });
  const signal = AbortSignal.abort(new Error('before'));
  const query = { order: 'newest', limit: 1, before: 0, after: 0 } as const;
  expect(await catchFailure(client.listLogs({ signal }))).toBe(signal.reason);
  expect(await catchFailure(client.viewLog({ file: 'a', sizeBytes: 1 }, { signal }))).toBe(signal.reason);
  expect(await catchFailure(client.search(query, { signal }))).toBe(signal.reason);
  expect(odd.requests).toEqual([]);
});
