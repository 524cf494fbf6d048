import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { PortholeError, SizedBytes } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAuthority, issueForNode } from '../auth/testing/certificates.ts';
import { exchange, sendRequest } from '../testing/send-request.ts';
import { EmbeddedResponses } from './embedded-http.ts';
import type { RouteHandler, RouteResponse } from './response/route-response.ts';
import { ResponseWriter } from './response/send-response.ts';
import { type ServeOptions, serveRoutes } from './testing/serve-routes.ts';

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
function serve(node: RouteHandler, options?: ServeOptions) {
  return serveRoutes(() => ({ routes: { node, live: HELLO } }), options);
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
    ['request', 'an unexpected error while the request was handled', { id: expect.stringMatching(/-1$/) }],
  ]);
});

it('a failure that is not a mistake in this program is no fault', async () => {
  const { port, faults } = await serve(() => Promise.reject(new PortholeError('UNREACHABLE', 'the member is gone')));
  expect((await sendRequest(port, '/api/v1/node')).status).toBe(502);
  expect(faults()).toBe(0);
});

/** Responses of a node in another server, for what the handler does. */
async function embed(node: RouteHandler) {
  const served = await serve(node);
  return { ...served, embedded: new EmbeddedResponses(served.onRequest, { stallTimeoutMs: 60_000 }) };
}

describe('over fetch', () => {
  const ask = (path = '/api/v1/node') => new Request(`http://localhost${path}`);

  it.each<[string, RouteHandler]>([
    ['thrown by its route', bug],
    ['before the first byte', () => sized(10, chunks(BUG))],
  ])('a fault %s is a 500', async (_name, handler) => {
    const { embedded, faults } = await embed(handler);
    expect((await embedded.fetch(ask())).status).toBe(500);
    expect(faults()).toBe(1);
  });

  it.each([
    ['too few', sized(10, chunks('four', ''))],
    ['too many', sized(5, chunks('four', 'more'))],
  ])('%s bytes fail when they are read', async (_name, response) => {
    const { embedded, faults } = await embed(() => response);
    await expect((await embedded.fetch(ask())).text()).rejects.toThrow('before it was complete');
    expect(faults()).toBe(1);
    expect(await (await embedded.fetch(ask('/health/live'))).text()).toBe('hello');
  });

  it('empty chunks are left out', async () => {
    const { embedded, faults } = await embed(() => sized(8, chunks('', 'four', '', 'more', '')));
    expect(await (await embedded.fetch(ask())).text()).toBe('fourmore');
    expect(faults()).toBe(0);
  });
});

describe('over HTTP/2', () => {
  async function ask(node: RouteHandler) {
    const dir = tempDir();
    const { port, faults } = await serve(node, { tls: issueForNode(createAuthority(dir), dir) });
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    onTestFinished(() => session.destroy());
    const get = async (path: string) => {
      const stream = session.request({ ':path': path });
      stream.on('error', () => {}); // seen as its code
      const [headers] = await once(stream, 'response');
      let body = '';
      stream.on('data', (part: Buffer) => {
        body += part.toString();
      });
      await new Promise((resolve) => stream.once('close', resolve));
      return [headers[':status'], body, stream.rstCode > 0];
    };
    const response = await get('/api/v1/node');
    return { response, live: await get('/health/live'), faults: faults() };
  }

  it.each<[string, RouteHandler, unknown[]]>([
    ['an empty last chunk is left out', () => sized(4, chunks('four', '')), [200, 'four', false, 0]],
    ['too few bytes reset the stream', () => sized(10, chunks('four', '')), [200, 'four', true, 1]],
    ['too many bytes reset the stream', () => sized(5, chunks('four', 'more')), [200, 'four', true, 1]],
    ['a fault before the first byte is a 500', () => sized(5, chunks(BUG)), [500, expect.any(String), false, 1]],
  ])('%s, and the connection goes on', async (_name, handler, expected) => {
    const { response, live, faults } = await ask(handler);
    expect([...response, faults]).toEqual(expected);
    expect(live).toEqual([200, 'hello', false]);
  });
});

describe('in the server of a program', () => {
  /** The program ends the response at some moment of the route. */
  async function interfere(node: (end: () => void) => RouteHandler) {
    let current: ServerResponse | undefined;
    const { embedded, ...rest } = await embed(node(() => current?.end('the host')));
    const server = createServer((request, response) => {
      current = response;
      embedded.handler(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { ...rest, hostPort: (server.address() as AddressInfo).port };
  }

  it('a response that the program ends before it begins does not end the process', async () => {
    const { hostPort, cuts } = await interfere((end) => async () => {
      end();
      return HELLO({} as never);
    });
    await sendRequest(hostPort, '/api/v1/node').catch(() => {});
    await eventually(() => expect(cuts).toHaveLength(1));
    expect((await sendRequest(hostPort, '/health/live')).body.toString()).toBe('hello');
  });

  it('nor does one that it ends in the middle', async () => {
    const { hostPort, cuts } = await interfere((end) => () => {
      async function* parts() {
        yield* chunks('four');
        end();
        yield* chunks('more', 'and more');
      }
      return openEnded(parts());
    });
    await sendRequest(hostPort, '/api/v1/node').catch(() => {});
    await eventually(() => expect(cuts).toHaveLength(1));
    expect((await sendRequest(hostPort, '/health/live')).body.toString()).toBe('hello');
  });
});

it('a response is ended once', async () => {
  const refused: unknown[] = [];
  const server = createServer((_request, response) => {
    const writer = new ResponseWriter(response);
    void writer.end(Buffer.from('whole'));
    for (const again of [() => writer.end(Buffer.alloc(0)), () => writer.write(Buffer.from('more'))])
      try {
        again();
      } catch (error) {
        refused.push(error);
      }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { body } = await sendRequest((server.address() as AddressInfo).port, '/');
  expect(body.toString()).toBe('whole');
  expect(refused).toHaveLength(2);
});
