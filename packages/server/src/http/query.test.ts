import { MAX_QUERY_LENGTH } from '@porthole/contract';
import type { Fields, FoundRecord, Histogram, Top } from '@porthole/logs';
import { describe, expect, it } from 'vitest';
import { requestJson, requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';
import { schemaProblems } from './testing/schema-problems.ts';

/** Forty records, one a minute; every fourth of shard 13 is slow. */
const LOG = Array.from({ length: 40 }, (_, index) => {
  const time = `2026-11-15 10:${String(index).padStart(2, '0')}:00.000`;
  const context = JSON.stringify({ shard: index % 4 === 0 ? 13 : 130, cost: `${index * 50}ms` });
  return `${time}\t${index % 10 === 0 ? 'ERROR' : 'INFO'}\tquery/exec.go:${index % 3}\t[Query]: done\t${context}\n`;
}).join('');

const serve = () => startTestNode({ files: { 'db.log': LOG }, settings: { node: { timeZone: 'UTC' } } });

const ROUTES = ['search', 'follow', 'histogram', 'digest', 'fields', 'top'].map((name) => `/api/v1/log/${name}`);

function withQuery(path: string, query: string): string {
  return `${path}?by=shard&query=${encodeURIComponent(query)}`;
}

async function search(port: number, parameters: string): Promise<FoundRecord[]> {
  const { status, body } = await sendRequest(port, `/api/v1/log/search?${parameters}`);
  expect(status).toBe(200);
  const items = body.toString().trimEnd().split('\n');
  for (const item of items) expect(schemaProblems(JSON.parse(item), 'SearchItem')).toEqual([]);
  return items.slice(0, -1).map((item) => JSON.parse(item) as FoundRecord);
}

describe('a query over HTTP', () => {
  it('selects records by field, and fields are returned with them', async () => {
    const { port } = await serve();
    const query = encodeURIComponent('shard=13 cost>1s');
    const records = await search(port, `query=${query}&fields=shard,cost&fields=level&order=oldest`);
    expect(records.map(({ fields }) => fields)).toEqual([
      { shard: 13, cost: '1200ms', level: 'INFO' },
      { shard: 13, cost: '1400ms', level: 'INFO' },
      { shard: 13, cost: '1600ms', level: 'INFO' },
      { shard: 13, cost: '1800ms', level: 'INFO' },
    ]);
    const { end } = await requestJson<Histogram>(port, `/api/v1/log/histogram?query=${query}`);
    expect(end.records).toBe(4);
  });

  it('is explained in words, in its canonical form', async () => {
    const { port } = await serve();
    const explained = await requestJson<object>(port, '/api/v1/log/explain?query=%20shard%20=%2013%20AND%20timeout');
    expect(explained).toEqual({ query: 'shard=13 timeout', words: expect.stringContaining('shard') });
    expect(schemaProblems(explained, 'QueryExplanation')).toEqual([]);
  });

  it.each(ROUTES)('with a mistake is refused by %s with the position of it', async (path) => {
    const { port } = await serve();
    expect(await requestProblem(port, withQuery(path, 'shard=13 cost>fast'))).toMatchObject({
      status: 400,
      code: 'QUERY_INVALID',
      detail: expect.stringContaining('at character 15'),
      position: 14,
    });
  });

  it.each([
    ['too long', 'x'.repeat(MAX_QUERY_LENGTH + 1), 'QUERY_INVALID'],
    ['too deep', `${'('.repeat(1000)}a${')'.repeat(1000)}`, 'QUERY_INVALID'],
    ['too many negations', `${'NOT '.repeat(900)}a`, 'QUERY_INVALID'],
    ['too many terms', 'a '.repeat(65), 'QUERY_INVALID'],
    ['too many regexes', '/a/ '.repeat(9), 'QUERY_INVALID'],
    ['a regex that is none', '/(/', 'REGEX_INVALID'],
    ['a regex that is too complex', '/((((a{1,100}){1,100}){1,100}){1,100}){1,100}/', 'REGEX'],
    ['an open quote', 'a "b', 'QUERY_INVALID'],
    ['a control character for a field', 'sh\u0000ard=1 )', 'QUERY_INVALID'],
  ])('that is %s is refused', async (_what, query, code) => {
    const { port } = await serve();
    const { code: got, status } = await requestProblem(port, withQuery('/api/v1/log/top', query));
    expect({ status, code: got.slice(0, code.length) }).toEqual({ status: 400, code });
  });
});

describe('counts by value over HTTP', () => {
  it('are the most frequent values, over time if asked for, and of its schema', async () => {
    const { port } = await serve();
    const top = await requestJson<Top>(port, '/api/v1/log/top?by=context.shard&bucket=1h&level=error');
    expect(top).toMatchObject({
      by: 'shard',
      values: [
        { value: '13', count: 2, buckets: [{ startMs: Date.UTC(2026, 10, 15, 10), count: 2 }] },
        { value: '130', count: 2 },
      ],
      others: 0,
      missing: 0,
      isExact: true,
    });
    expect(schemaProblems(top, 'Top')).toEqual([]);
    const fields = await requestJson<Fields>(port, '/api/v1/log/fields?query=shard:*');
    expect(fields.fields).toContainEqual(
      expect.objectContaining({ name: 'cost', types: ['duration'], records: 40, distinct: 40 }),
    );
    expect(schemaProblems(fields, 'Fields')).toEqual([]);
  });

  it('need a field, and have no more values than allowed', async () => {
    const { port } = await serve();
    expect(await requestProblem(port, '/api/v1/log/top')).toMatchObject({ code: 'PARAMETER_INVALID' });
    expect(await requestProblem(port, '/api/v1/log/top?by=a&limit=10001')).toMatchObject({ code: 'PARAMETER_INVALID' });
  });

  it('take a HEAD, and a POST with values that are too long for a URL', async () => {
    const { port } = await serve();
    const head = await sendRequest(port, '/api/v1/log/top?by=shard', { method: 'HEAD' });
    expect({ status: head.status, bytes: head.body.length }).toEqual({ status: 200, bytes: 0 });
    const value = ['13', ...Array.from({ length: 60 }, (_, index) => `${index}`.repeat(200))];
    const { status, body } = await sendRequest(port, '/api/v1/log/top', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ by: 'shard', value }),
    });
    expect(status).toBe(200);
    expect(JSON.parse(body.toString())).toMatchObject({ values: [{ value: '13', count: 10 }], others: 30 });
  });
});
