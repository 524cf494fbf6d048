import { describe, expect, it } from 'vitest';
import type { Client } from './client.ts';
import { catchFailure } from './testing/catch-failure.ts';
import { type Handler, HTML_HEADERS, JSON_HEADERS, startOddServer } from './testing/odd-server.ts';
import { testClient } from './testing/test-client.ts';

const NODE = {
  hostIp: '10.8.0.21',
  hostName: 'root-0',
  version: '0.4.1',
  onlineTime: 1_700_000_000_000,
  httpPort: 3000,
};

/** Responds like a LinDB node; `other` is its response to unknown routes. */
function lindb(other: Handler): Handler {
  return (request, response, number) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://node');
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value));
    if (pathname === '/api/v1/config') return json(200, { node: { ...NODE, id: 3 }, config: 'a = 1\n' });
    if (pathname === '/api/v1/log/list') return json(200, null);
    if (pathname !== '/api/v1/log/view') return other(request, response, number);
    if (searchParams.get('file') !== 'a.log') return json(500, 'failed to open log file: nope.log');
    response.writeHead(200, HTML_HEADERS);
    response.write('<b>one</b>\n');
    response.end('two\n');
  };
}

const SPA: Handler = (_request, response) => response.writeHead(200, HTML_HEADERS).end('<!doctype html><title>LinDB');
const NOT_FOUND: Handler = (_request, response) => response.writeHead(404).end('404 page not found');
const NOT_ALLOWED: Handler = (_request, response) => response.writeHead(405).end();
const GIN: Handler = (_request, response) => response.writeHead(501, JSON_HEADERS).end('"nope"');
const OURS: Handler = (_request, response) =>
  response.writeHead(404, JSON_HEADERS).end('{"code":"ROUTE_NOT_FOUND","detail":"there is no such route"}');

const search = { order: 'newest', limit: 1, before: 0, after: 0 } as const;

const BEYOND: [string, string, (client: Client) => Promise<unknown> | AsyncIterable<unknown>][] = [
  ['describe', '/api/v1/node', (client) => client.describe()],
  ['settings', '/api/v1/config/settings', (client) => client.settings()],
  ['logFiles', '/api/v1/log/files', (client) => client.logFiles()],
  ['search', '/api/v1/log/search', (client) => client.search(search)],
  ['follow', '/api/v1/log/follow', (client) => client.follow({ start: 'end' })],
  ['histogram', '/api/v1/log/histogram', (client) => client.histogram({ buckets: 1 })],
  ['digest', '/api/v1/log/digest', (client) => client.digest({ limit: 1 })],
  ['fields', '/api/v1/log/fields', (client) => client.fields()],
  ['top', '/api/v1/log/top', (client) => client.top({ by: 'shard' })],
];

describe.each([
  ['a console page', SPA],
  ['404', NOT_FOUND],
  ['405', NOT_ALLOWED],
  ['501', GIN],
  ['our own 404', OURS],
])('a node that only implements the contract and responds with %s to the rest', (_name, other) => {
  it('does the three operations', async () => {
    const client = testClient({ url: (await startOddServer(lindb(other))).url });
    expect(await client.config()).toEqual({ config: 'a = 1\n', node: { ...NODE, grpcPort: 0 } });
    expect(await client.listLogs()).toEqual([]);
    const { sizeBytes, chunks } = await client.viewLog({ file: 'a.log', sizeBytes: 100 });
    expect(sizeBytes).toBeUndefined();
    let text = '';
    for await (const chunk of chunks) text += new TextDecoder().decode(chunk);
    expect(text).toBe('<b>one</b>\ntwo\n');
  });

  it('names what went wrong in an error', async () => {
    const client = testClient({ url: (await startOddServer(lindb(other))).url });
    const error = await catchFailure(client.viewLog({ file: 'nope.log', sizeBytes: 1 }));
    expect(error).toMatchObject({ code: 'INTERNAL', status: 500, message: 'failed to open log file: nope.log' });
  });

  it.each(BEYOND)('%s: not supported, and the error names the missing route', async (_operation, path, call) => {
    const odd = await startOddServer(lindb(other));
    const error = await catchFailure(call(testClient({ url: odd.url })));
    expect(error).toMatchObject({ code: 'NOT_SUPPORTED', message: expect.stringContaining(`no ${path}`) });
    expect(odd.requests).toHaveLength(1);
  });
});

it('a file cannot be opened if the response is a page', async () => {
  const client = testClient({ url: (await startOddServer(lindb(SPA))).url });
  expect(await catchFailure(client.openLog({ file: 'a.log' }))).toMatchObject({ code: 'NOT_SUPPORTED' });
  const other = testClient({ url: (await startOddServer(lindb(NOT_FOUND))).url });
  expect(await catchFailure(other.openLog({ file: 'a.log' }))).toMatchObject({ code: 'NOT_SUPPORTED' });
});
