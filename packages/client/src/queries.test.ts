import { describe, expect, it } from 'vitest';
import type { NodeClient } from './client-requests.ts';
import { parseQuery } from './index.ts';
import { catchFailure } from './testing/catch-failure.ts';
import { JSON_HEADERS, respondWith, startOddServer } from './testing/odd-server.ts';
import { testClient } from './testing/test-client.ts';

const END = { reason: 'exhausted', records: 0, problems: [] };
const TOP = { by: 'shard', values: [], others: 0, missing: 0, distinct: 0, isExact: true, end: END };

const query = 'shard=13 cost>fast';

const CALLS: [string, (node: NodeClient) => Promise<unknown> | AsyncIterable<unknown>][] = [
  ['searchLogs', (node) => node.searchLogs({ query })],
  ['search', (node) => node.search({ query })],
  ['records', (node) => node.records({ query })],
  ['logHistogram', (node) => node.logHistogram({ query })],
  ['logDigest', (node) => node.logDigest({ query })],
  ['logFields', (node) => node.logFields({ query })],
  ['logTop', (node) => node.logTop({ by: 'shard', query })],
  ['cluster.searchLogs', (node) => node.cluster.searchLogs({ query })],
  ['cluster.records', (node) => node.cluster.records({ query })],
  ['cluster.logHistogram', (node) => node.cluster.logHistogram({ query })],
  ['cluster.logDigest', (node) => node.cluster.logDigest({ query })],
  ['cluster.logFields', (node) => node.cluster.logFields({ query })],
  ['cluster.logTop', (node) => node.cluster.logTop({ by: 'shard', query })],
];

describe('a query', () => {
  it.each(CALLS)('with a mistake is refused by %s before anything is sent', async (_name, call) => {
    const odd = await startOddServer(respondWith(200, '{}', JSON_HEADERS));
    expect(await catchFailure(call(testClient({ url: odd.url })))).toMatchObject({
      code: 'QUERY_INVALID',
      position: 14,
    });
    expect(odd.requests).toEqual([]);
  });

  it('with a mistake is refused by a follow when it is called', () => {
    const node = testClient({ url: 'http://127.0.0.1:1' });
    for (const follow of [() => node.followLogs({ query }), () => node.cluster.followLogs({ query })])
      expect(follow).toThrow(expect.objectContaining({ code: 'QUERY_INVALID', position: 14 }));
  });

  it('is sent as the same text, whether it is text or parsed; an empty one is not sent', async () => {
    const odd = await startOddServer(respondWith(200, JSON.stringify(TOP), JSON_HEADERS));
    const node = testClient({ url: odd.url });
    const text = ' shard = 13  AND (a OR "b c") ';
    const parsed = parseQuery(text);
    for (const given of [text, ...(parsed ? [parsed] : [])]) await node.logTop({ by: 'shard', query: given });
    await node.logTop({ by: 'shard', query: ' ' });
    const sent = odd.requests.map((request) => new URL(request.split(' ')[1] ?? '', odd.url).searchParams.get('query'));
    expect(sent).toEqual(['shard=13 (a OR "b c")', 'shard=13 (a OR "b c")', null]);
  });

  it('that is neither text nor a query is named', async () => {
    const node = testClient({ url: 'http://127.0.0.1:1' });
    expect(await catchFailure(node.logFields({ query: 13 as never }))).toMatchObject({
      code: 'PARAMETER_INVALID',
      message: expect.stringContaining('invalid parameter "query" of logFields(): expected a string'),
    });
  });
});

describe('counts by value', () => {
  it('of many values are sent by POST', async () => {
    const odd = await startOddServer(respondWith(200, JSON.stringify(TOP), JSON_HEADERS));
    const values = Array.from({ length: 100 }, (_, index) => `${index}`.repeat(100));
    await testClient({ url: odd.url }).logTop({ by: 'shard', values });
    expect(odd.requests).toEqual(['POST /api/v1/log/top']);
  });

  it('that are invalid are left out and reported; more than requested are refused', async () => {
    const right = { value: '13', count: 2 };
    const wrong = [{ value: 13, count: 2 }, { value: 'x', count: -1 }, { ...right, buckets: [{}] }, 'x'];
    const body = JSON.stringify({ ...TOP, values: [right, ...wrong] });
    const { url } = await startOddServer(respondWith(200, body, JSON_HEADERS));
    const { values, end } = await testClient({ url }).logTop({ by: 'shard' });
    expect(values).toEqual([right]);
    expect(end.problems).toMatchObject([
      { code: 'BAD_ANSWER', detail: expect.stringContaining('4 items were left out') },
    ]);
    const few = testClient({ url }).logTop({ by: 'shard', limit: 3 });
    expect(await catchFailure(few)).toMatchObject({ code: 'BAD_ANSWER' });
  });

  it('of fields are checked alike', async () => {
    const right = {
      name: 'shard',
      types: ['number'],
      records: 2,
      distinct: 1,
      isDistinctExact: true,
      examples: ['13'],
    };
    const fields = [right, { ...right, name: 'x'.repeat(5000) }, { ...right, examples: [13] }];
    const body = JSON.stringify({ fields, totalFields: 3, records: 2, isSample: false, end: END });
    const { url } = await startOddServer(respondWith(200, body, JSON_HEADERS));
    const found = await testClient({ url }).logFields();
    expect(found.fields).toEqual([right]);
    expect(found.end.problems).toHaveLength(1);
  });
});
