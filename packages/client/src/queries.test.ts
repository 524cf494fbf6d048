import { describe, expect, it } from 'vitest';
import type { Client } from './client.ts';
import { parseQuery } from './index.ts';
import { catchFailure } from './testing/catch-failure.ts';
import { JSON_HEADERS, respondWith, startOddServer } from './testing/odd-server.ts';
import { testClient, testMember } from './testing/test-client.ts';

const END = { reason: 'exhausted', records: 0, problems: [] };
const TOP = { by: 'shard', values: [], others: 0, missing: 0, distinct: 0, isExact: true, members: [], end: END };

const query = 'shard=13 cost>fast';

const CALLS: [string, (node: Client) => Promise<unknown> | AsyncIterable<unknown>][] = [
  ['search', (node) => node.search({ query })],
  ['events', (node) => node.events({ query })],
  ['records', (node) => node.records({ query })],
  ['histogram', (node) => node.histogram({ query })],
  ['digest', (node) => node.digest({ query })],
  ['fields', (node) => node.fields({ query })],
  ['top', (node) => node.top({ by: 'shard', query })],
  ['search of several nodes', (node) => node.search({ nodes: ['*'], query })],
  ['search of one node', (node) => node.node('a').search({ query })],
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
    for (const follow of [() => node.follow({ query }), () => node.followEvents({ nodes: ['*'], query })])
      expect(follow).toThrow(expect.objectContaining({ code: 'QUERY_INVALID', position: 14 }));
  });

  it('is sent as the same text, whether it is text or parsed; an empty one is not sent', async () => {
    const odd = await startOddServer(respondWith(200, JSON.stringify(TOP), JSON_HEADERS));
    const node = testClient({ url: odd.url });
    const text = ' shard = 13  AND (a OR "b c") ';
    const parsed = parseQuery(text);
    for (const given of [text, ...(parsed ? [parsed] : [])]) await node.top({ by: 'shard', query: given });
    await node.top({ by: 'shard', query: ' ' });
    const sent = odd.requests.map((request) => new URL(request.split(' ')[1] ?? '', odd.url).searchParams.get('query'));
    expect(sent).toEqual(['shard=13 (a OR "b c")', 'shard=13 (a OR "b c")', null]);
  });

  it('that is neither text nor a query is named', async () => {
    const node = testClient({ url: 'http://127.0.0.1:1' });
    expect(await catchFailure(node.fields({ query: 13 as never }))).toMatchObject({
      code: 'PARAMETER_INVALID',
      message: expect.stringContaining('invalid parameter "query" of fields(): expected a string'),
    });
  });
});

describe('counts by value', () => {
  it('of many values are sent by POST', async () => {
    const odd = await startOddServer(respondWith(200, JSON.stringify(TOP), JSON_HEADERS));
    const values = Array.from({ length: 100 }, (_, index) => `${index}`.repeat(100));
    await testClient({ url: odd.url }).top({ by: 'shard', values });
    expect(odd.requests).toEqual(['POST /api/v1/log/top']);
  });

  it('that are invalid are left out and reported; more than requested are refused', async () => {
    const right = { value: '13', count: 2 };
    const wrong = [{ value: 13, count: 2 }, { value: 'x', count: -1 }, { ...right, buckets: [{}] }, 'x'];
    const body = JSON.stringify({ ...TOP, values: [right, ...wrong] });
    const { url } = await startOddServer(respondWith(200, body, JSON_HEADERS));
    const { values, end } = await testMember({ url }).logTop({ by: 'shard', limit: 10 });
    expect(values).toEqual([right]);
    expect(end.problems).toMatchObject([
      { code: 'BAD_ANSWER', detail: expect.stringContaining('4 items were left out') },
    ]);
    const few = testMember({ url }).logTop({ by: 'shard', limit: 3 });
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
    const found = await testMember({ url }).logFields({ limit: 100 });
    expect(found.fields).toEqual([right]);
    expect(found.end.problems).toHaveLength(1);
  });
});
