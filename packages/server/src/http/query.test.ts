import { describe, expect, it } from 'vitest';
import { requestJson, requestProblem, sendRequest } from '../testing/send-request.ts';
import { shareTestNode } from '../testing/test-node.ts';
import { schemaProblems } from './testing/schema-problems.ts';

/** Forty records, one a minute; every fourth of shard 13 is slow. */
const LOG = Array.from({ length: 40 }, (_, index) => {
  const time = `2026-11-15 10:${String(index).padStart(2, '0')}:00.000`;
  const context = JSON.stringify({ shard: index % 4 === 0 ? 13 : 130, cost: `${index * 50}ms` });
  return `${time}\t${index % 10 === 0 ? 'ERROR' : 'INFO'}\tquery/exec.go:${index % 3}\t[Query]: done\t${context}\n`;
}).join('');

const node = shareTestNode({ files: { 'db.log': LOG }, settings: { node: { timeZone: 'UTC' } } });

const ROUTES = ['search', 'follow', 'histogram', 'digest', 'fields', 'top'].map((name) => `/api/v1/log/${name}`);

function withQuery(path: string, query: string): string {
  return `${path}?by=shard&query=${encodeURIComponent(query)}`;
}

describe('a query over HTTP', () => {
  it('is explained in words, in its canonical form', async () => {
    const { port } = node;
    const explained = await requestJson<object>(port, '/api/v1/log/explain?query=%20shard%20=%2013%20AND%20timeout');
    expect(explained).toEqual({ query: 'shard=13 timeout', words: expect.stringContaining('shard') });
    expect(schemaProblems(explained, 'QueryExplanation')).toEqual([]);
  });

  it.each(ROUTES)('with a mistake is refused by %s with the position of it', async (path) => {
    const { port } = node;
    expect(await requestProblem(port, withQuery(path, 'shard=13 cost>fast'))).toMatchObject({
      status: 400,
      code: 'QUERY_INVALID',
      detail: expect.stringContaining('at character 15'),
      position: 14,
    });
  });
});

describe('counts by value over HTTP', () => {
  it('take a HEAD, and a POST with values that are too long for a URL', async () => {
    const { port } = node;
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
