import type { ClusterItem } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import type { Client } from './client.ts';
import { catchFailure } from './testing/catch-failure.ts';
import { HTML_HEADERS, JSON_HEADERS, NDJSON_HEADERS, respondWith, startOddServer } from './testing/odd-server.ts';
import { testClient } from './testing/test-client.ts';

const FIND = { order: 'newest', limit: 10, before: 0, after: 0 } as const;
const SOME = { nodes: ['broker-*', 'storage-1'], role: 'storage' };
const SOME_TEXT = 'nodes=broker-*&nodes=storage-1&role=storage';

const ask = (url: string) => testClient({ url });

type Call = (client: Client) => Promise<unknown> | AsyncIterable<unknown>;

/** Each call, the request it sends, and a minimal response. */
const CALLS: [string, string, Call, Record<string, unknown>][] = [
  ['nodes', '/api/v1/nodes', (client) => client.nodes(), { nodes: [] }],
  ['settings', `/api/v1/config/settings?${SOME_TEXT}`, (client) => client.settings(SOME), { configs: [] }],
  ['configDiff', `/api/v1/config/diff?${SOME_TEXT}`, (client) => client.configDiff(SOME), { roles: [], members: [] }],
  ['logFiles', `/api/v1/log/files?${SOME_TEXT}`, (client) => client.logFiles(SOME), { files: [], members: [] }],
  [
    'histogram',
    `/api/v1/log/histogram?${SOME_TEXT}&level=warn&buckets=5&budget=24000`,
    (client) => client.histogram({ buckets: 5, minLevel: 'WARN', ...SOME }),
    { bucketMs: 1, buckets: [], untimed: 0, members: [] },
  ],
  [
    'digest',
    `/api/v1/log/digest?${SOME_TEXT}&limit=5&budget=7000`,
    (client) => client.digest({ limit: 5, ...SOME }, { budgetMs: 7000 }),
    { groups: [], totalGroups: 0, ungrouped: 0, members: [] },
  ],
  [
    'fields',
    `/api/v1/log/fields?${SOME_TEXT}&level=warn&limit=5&budget=24000`,
    (client) => client.fields({ limit: 5, minLevel: 'WARN', ...SOME }),
    { fields: [], totalFields: 0, records: 0, isSample: false, counted: null, members: [] },
  ],
  [
    'top',
    `/api/v1/log/top?${SOME_TEXT}&query=shard%3D13&by=shard&limit=5&budget=7000`,
    (client) =>
      client.top(
        { by: 'shard', limit: 5, query: { kind: 'field', field: 'shard', operator: '=', value: '13' }, ...SOME },
        { budgetMs: 7000 },
      ),
    { by: 'shard', values: [], others: 0, missing: 0, distinct: 0, isExact: true, counted: null, members: [] },
  ],
];

const STREAMS: [string, string, (client: Client) => AsyncIterable<ClusterItem[]>][] = [
  [
    'search',
    `/api/v1/log/search?${SOME_TEXT}&src=%3Da.log&order=newest&limit=10&before=0&after=0`,
    (client) => client.search({ ...FIND, src: ['=a.log'], ...SOME }),
  ],
  [
    'moment of a record',
    `/api/v1/log/around?node=broker-1&cursor=c1&before=5000&after=1000&limit=20&${SOME_TEXT}`,
    (client) =>
      client.around({ at: { node: 'broker-1', cursor: 'c1' }, beforeMs: 5000, afterMs: 1000, limit: 20, ...SOME }),
  ],
  [
    'moment of a time',
    '/api/v1/log/around?time=1700000000000&before=5000&after=1000&limit=20',
    (client) => client.around({ at: { timeMs: 1_700_000_000_000 }, beforeMs: 5000, afterMs: 1000, limit: 20 }),
  ],
];

const RECORD = { type: 'record', node: 'broker-1', file: 'a.log', cursor: 'c1', message: 'one', atMs: 5 };
const END = { type: 'end', reason: 'exhausted', records: 1, members: [], cursor: null };

describe('nodes asked through one of them', () => {
  it.each(CALLS)('%s requests %s and returns the response', async (_name, path, question, answer) => {
    const odd = await startOddServer(respondWith(200, JSON.stringify(answer), JSON_HEADERS));
    expect(await question(ask(odd.url))).toEqual(answer);
    expect(odd.requests).toEqual([`GET ${path}`]);
  });

  it.each(CALLS)('%s: a response with other fields is invalid', async (_name, _path, question) => {
    const odd = await startOddServer(respondWith(200, '{"something":"else"}', JSON_HEADERS));
    expect(await catchFailure(question(ask(odd.url)) as Promise<unknown>)).toMatchObject({ code: 'BAD_ANSWER' });
  });

  it.each(STREAMS)(
    '%s requests %s and emits batches, an empty one first, the end last',
    async (_name, path, question) => {
      const lines = [RECORD, END].map((item) => `${JSON.stringify(item)}\n`).join('');
      const odd = await startOddServer(respondWith(200, lines, NDJSON_HEADERS));
      const batches: ClusterItem[][] = [];
      for await (const items of question(ask(odd.url))) batches.push(items);
      expect(batches).toEqual([[], [RECORD, END]]);
      expect(odd.requests).toEqual([`GET ${path}`]);
    },
  );

  it.each(STREAMS)('%s fails if the response is cut off before its end', async (_name, _path, question) => {
    const odd = await startOddServer(respondWith(200, `${JSON.stringify(RECORD)}\n`, NDJSON_HEADERS));
    expect(await catchFailure(question(ask(odd.url)))).toMatchObject({ code: 'UNREACHABLE' });
  });

  it.each([
    ['our own 404', 404, '{"code":"ROUTE_NOT_FOUND","detail":"there is no such route"}', JSON_HEADERS],
    ['404', 404, '404 page not found', {}],
    ['a console page', 200, '<!doctype html>', HTML_HEADERS],
  ])('a node that responds with %s does not support it', async (_name, status, body, headers) => {
    const odd = await startOddServer(respondWith(status, body, headers));
    for (const question of [...CALLS.map(([, , each]) => each), ...STREAMS.map(([, , each]) => each)]) {
      const error = await catchFailure(question(ask(odd.url)));
      expect(error).toMatchObject({
        code: 'NOT_SUPPORTED',
        message: expect.stringContaining('the node has no /api/v1/'),
      });
    }
    const error = await catchFailure(ask(odd.url).follow({ start: 'end' }));
    expect(error).toMatchObject({ code: 'NOT_SUPPORTED' });
  });
});

describe('one node of a cluster', () => {
  it('is selected by its id, and asked for its configuration and files below it', async () => {
    const odd = await startOddServer((request, response) => {
      const isSearch = request.url?.includes('search');
      response
        .writeHead(200, isSearch ? NDJSON_HEADERS : JSON_HEADERS)
        .end(isSearch ? `${JSON.stringify(END)}\n` : '[]');
    });
    const member = testClient({ url: `${odd.url}/proxy/` }).node('10.8.0.21:2891');
    expect(await member.listLogs()).toEqual([]);
    for await (const _ of member.search(FIND));
    expect(odd.requests).toEqual([
      'GET /proxy/api/v1/nodes/10.8.0.21:2891/log/list',
      'GET /proxy/api/v1/log/search?nodes=10.8.0.21%3A2891&order=newest&limit=10&before=0&after=0',
    ]);
  });

  it('that the node does not know fails with the error of the node', async () => {
    const problem = '{"code":"MEMBER_NOT_FOUND","detail":"no member named \\"x\\""}';
    const odd = await startOddServer(respondWith(404, problem, JSON_HEADERS));
    expect(await catchFailure(ask(odd.url).node('x').config())).toMatchObject({
      code: 'MEMBER_NOT_FOUND',
      status: 404,
    });
  });

  it.each(['', '.', '..', 'a/b', 'a?b', 'a%2fb', 'ä', 'x'.repeat(129)])('cannot be named %j', (id) => {
    expect(() => ask('http://node').node(id)).toThrow(expect.objectContaining({ code: 'MEMBER_NOT_FOUND' }));
  });
});
