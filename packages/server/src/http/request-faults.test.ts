import { PortholeError, SizedBytes } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { exchange, sendRequest } from '../testing/send-request.ts';
import type { RouteHandler, RouteResponse } from './response/route-response.ts';
import { serveRoutes } from './testing/serve-routes.ts';

const HELLO: RouteHandler = () => ({ status: 200, headers: {}, body: 'hello' });

const BUG = new TypeError('a bug');

function bug(): never {
  throw BUG;
}

async function* chunks(...texts: (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield Buffer.from(text);
  }
}

/** A text response of `sizeBytes`. */
function sized(sizeBytes: number, source: AsyncIterable<Uint8Array>): RouteResponse {
  return { status: 200, headers: {}, stream: { chunks: new SizedBytes(sizeBytes, source), close: async () => {} } };
}

function openEnded(source: AsyncIterable<Uint8Array>, close = async () => {}): RouteResponse {
  return { status: 200, headers: {}, stream: { chunks: source, close } };
}

/** Serves what is tried as one route, beside one that works. */
function serve(node: RouteHandler) {
  return serveRoutes(() => ({ routes: { node, live: HELLO } }));
}

const GET = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${more}\r\n`;

/** The request, and another one behind it on the same connection, which is closed after that. */
function pipelined(port: number): Promise<string> {
  return exchange(port, GET('/api/v1/node') + GET('/health/live', 'connection: close\r\n'));
}

describe('a fault of a request that has not been answered', () => {
  it.each<[string, RouteHandler]>([
    ['thrown by its route', bug],
    ['in a promise', () => Promise.reject(BUG)],
    ['in a header that cannot be sent', () => ({ status: 200, headers: { 'x-bad': 'a\nb' }, body: '' })],
    ['before the first byte of a sized stream', () => sized(10, chunks(BUG))],
    ['a sized stream without bytes', () => sized(10, chunks('', ''))],
    ['a sized stream whose first chunk is too long', () => sized(3, chunks('four'))],
  ])('%s is a 500, and the connection goes on', async (_name, handler) => {
    const { port, faults, failures } = await serve(handler);
    const text = await pipelined(port);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 500', 'HTTP/1.1 200']);
    expect(text).toContain('"code":"INTERNAL"');
    expect(text).toMatch(/hello$/);
    expect(faults()).toBe(1);
    expect(failures).toMatchObject([
      ['request', expect.stringContaining('failed'), { id: expect.stringMatching(/-1$/) }],
    ]);
  });
});

describe('a fault of a request whose head was sent', () => {
  it.each<[string, RouteResponse]>([
    ['too few bytes', sized(10, chunks('four', ''))],
    ['too many bytes', sized(5, chunks('four', 'more'))],
    ['a failure of the source', sized(10, chunks('four', BUG))],
    ['a failure of a source without a size', openEnded(chunks('four', BUG))],
  ])('%s: the connection is cut, and the node goes on', async (_name, response) => {
    const { port, faults, failures, cuts } = await serve(() => response);
    const text = await pipelined(port);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect(text).toMatch(/four(\r\n)?$/);
    expect([faults(), cuts]).toEqual([1, ['source']]);
    expect(failures).toMatchObject([['request', 'the response was cut', { id: expect.stringMatching(/-1$/) }]]);
    expect((await sendRequest(port, '/health/live')).body.toString()).toBe('hello');
  });
});

describe('what a sized stream has besides its bytes', () => {
  it.each<[string, RouteResponse, string]>([
    ['empty chunks between them', sized(8, chunks('', 'four', '', 'more')), 'fourmore'],
    ['an empty chunk after the last', sized(4, chunks('four', '')), 'four'],
    ['nothing, as it is empty', sized(0, chunks('')), ''],
  ])('%s: the response is whole, and the connection goes on', async (_name, response, body) => {
    const { port, faults } = await serve(() => response);
    const text = await pipelined(port);
    const [, head, rest] = /^(HTTP\/1\.1 200.*?)\r\n\r\n(.*)$/s.exec(text) ?? [];
    expect(head).toContain(`content-length: ${body.length}`);
    expect(rest?.startsWith(`${body}HTTP/1.1 200`)).toBe(true);
    expect(faults()).toBe(0);
  });

  it('more bytes after those it was announced with: the response is whole, and the fault is counted', async () => {
    const { port, faults } = await serve(() => sized(4, chunks('four', 'more')));
    expect((await sendRequest(port, '/api/v1/node')).body.toString()).toBe('four');
    await eventually(() => expect(faults()).toBe(1));
  });

  it('its head is what HEAD gets, and nothing is read', async () => {
    const { port, faults } = await serve(() => sized(10, chunks(BUG)));
    const { status, headers } = await sendRequest(port, '/api/v1/node', { method: 'HEAD' });
    expect([status, headers['content-length'], faults()]).toEqual([200, '10', 0]);
  });
});

it('a fault while a response is cleaned up is counted and logged with the id of the request', async () => {
  const { port, faults, failures } = await serve(() => openEnded(chunks('four'), bug));
  expect((await sendRequest(port, '/api/v1/node')).body.toString()).toBe('four');
  await eventually(() => expect(faults()).toBe(1));
  expect(failures).toMatchObject([
    ['request', 'cleaning up after a response failed', { id: expect.stringMatching(/-1$/) }],
  ]);
});

it('a failure that is not a mistake in this program is no fault', async () => {
  const { port, faults } = await serve(() => Promise.reject(new PortholeError('UNREACHABLE', 'the member is gone')));
  expect((await sendRequest(port, '/api/v1/node')).status).toBe(502);
  expect(faults()).toBe(0);
});
