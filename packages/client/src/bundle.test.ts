import { expect, it } from 'vitest';
import { createClient } from './http-client.ts';
import { catchFailure } from './testing/catch-failure.ts';
import { HTML_HEADERS, JSON_HEADERS, respondWith, startOddServer } from './testing/odd-server.ts';

const REQUEST = { fromMs: 1, toMs: 2, nodes: ['a*'] };
const ZIP_HEADERS = { 'content-type': 'application/zip' };

it('a bundle is streamed while it is created', async () => {
  const odd = await startOddServer((_request, response) => {
    response.writeHead(200, ZIP_HEADERS);
    response.write('first, ');
    response.end('last');
  });
  const bundle = await createClient({ url: odd.url }).bundle(REQUEST);
  let text = '';
  for await (const chunk of bundle.chunks) text += Buffer.from(chunk).toString();
  await bundle.close();
  expect(text).toBe('first, last');
  expect(odd.requests).toEqual(['GET /api/v1/bundle?since=%400.001&until=%400.002&nodes=a*']);
});

it('a bundle that is cut off fails instead of looking complete', async () => {
  const odd = await startOddServer((_request, response) => {
    response.writeHead(200, ZIP_HEADERS);
    response.write('first', () => response.destroy());
  });
  const { chunks } = await createClient({ url: odd.url }).bundle(REQUEST);
  const reading = (async () => {
    for await (const _ of chunks);
  })();
  expect(await catchFailure(reading)).toMatchObject({ code: 'UNREACHABLE' });
});

it('a node that is creating another one is retried', async () => {
  const busy = JSON.stringify({ code: 'BUNDLE_UNDER_WAY', detail: 'one at a time' });
  const odd = await startOddServer((request, response, number) =>
    number === 1
      ? respondWith(503, busy, { ...JSON_HEADERS, 'retry-after': '0' })(request, response, number)
      : respondWith(200, 'zip', ZIP_HEADERS)(request, response, number),
  );
  const bundle = await createClient({ url: odd.url }).bundle(REQUEST);
  await bundle.close();
  expect(odd.requests).toHaveLength(2);
});

it('a server without bundles is reported as such', async () => {
  const odd = await startOddServer(respondWith(200, '<html>', HTML_HEADERS));
  expect(await catchFailure(createClient({ url: odd.url }).bundle(REQUEST))).toMatchObject({ code: 'NOT_SUPPORTED' });
  expect(odd.aborted).toBe(0);
});
