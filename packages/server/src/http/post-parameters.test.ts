import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { POST_PATHS } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import { shareTestNode } from '../testing/test-node.ts';

const LINE = '2026-11-15 10:00:00.000\tINFO\ta.go:1\t[x]: number';
const FILES = { 'a.log': `${LINE} 1\n${LINE} 2\n${LINE} 3\n` };
const SEARCH = '/api/v1/log/search';
const JSON_HEADERS = { 'content-type': 'application/json' };

const node = shareTestNode({ files: FILES });

interface PostResponse {
  status: number;
  body: string;
  allow: string | undefined;
}

function post(
  port: number,
  path: string,
  body: string,
  headers: Record<string, string> = JSON_HEADERS,
): Promise<PostResponse> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path, method: 'POST', headers, agent: false }, async (response) => {
      const { statusCode: status = 0, headers: got } = response;
      resolve({ status, body: await text(response), allow: got.allow });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const messagesIn = ({ body }: PostResponse) =>
  [...body.matchAll(/"message":"(number \d)"/g)].map(([, message]) => message);

describe('parameters in the body of a POST', () => {
  it('are those of the URL, and may stand beside them', async () => {
    const { port } = node;
    const answer = await post(
      port,
      `${SEARCH}?order=oldest`,
      JSON.stringify({ src: ['a.log'], limit: 2, q: ['number'] }),
    );
    expect(answer.status).toBe(200);
    expect(messagesIn(answer)).toEqual(['number 1', 'number 2']);
  });

  it.each([...POST_PATHS])('are taken by %s', async (path) => {
    const { status, body } = await post(node.port, path, JSON.stringify({ fields: 'level', level: 'warnn' }));
    // The level is refused as that of a URL is: it was read.
    expect({ status, body }).toEqual({
      status: 400,
      body: expect.stringMatching(/"code":"PARAMETER_INVALID"/),
    });
  });

  it('may be longer than any URL: a cursor of many logs', async () => {
    const { port } = node;
    const first = await post(port, SEARCH, JSON.stringify({ src: ['=a.log'], order: 'oldest', limit: 1 }));
    const cursor = /"cursor":"([^"]+)"/.exec(first.body)?.[1] ?? '';
    const long = Array.from({ length: 5000 }, () => cursor).join('~');
    const answer = await post(port, SEARCH, JSON.stringify({ src: ['=a.log'], order: 'oldest', cursor: long }));
    expect(long.length).toBeGreaterThan(100_000);
    expect(messagesIn(answer)).toEqual(['number 2', 'number 3']);
  });

  it.each([
    ['no JSON', '{"q":', JSON_HEADERS, 400, 'BAD_REQUEST'],
    ['no object', '["q"]', JSON_HEADERS, 400, 'BAD_REQUEST'],
    ['an object as a value', '{"q":{"a":1}}', JSON_HEADERS, 400, 'BAD_REQUEST'],
    ['a parameter twice', '{"limit":["1","2"]}', JSON_HEADERS, 400, 'BAD_REQUEST'],
    [
      'a form, which any page may send',
      'q=a',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'CONTENT_TYPE_UNSUPPORTED',
    ],
    ['text, which any page may send', '{}', { 'content-type': 'text/plain' }, 415, 'CONTENT_TYPE_UNSUPPORTED'],
    ['compressed', '{}', { ...JSON_HEADERS, 'content-encoding': 'gzip' }, 415, 'CONTENT_TYPE_UNSUPPORTED'],
    ['more than 1 MiB', `{"q":"${'x'.repeat(1024 ** 2)}"}`, JSON_HEADERS, 413, 'BODY_TOO_LARGE'],
  ])('%s is refused', async (_name, body, headers, status, code) => {
    const { port } = node;
    const answer = await post(port, SEARCH, body, headers);
    expect({ status: answer.status, code: /"code":"(\w+)"/.exec(answer.body)?.[1] }).toEqual({ status, code });
  });

  it('more than 1 MiB is refused without a length, too', async () => {
    const { port } = node;
    const headers = { ...JSON_HEADERS, 'transfer-encoding': 'chunked' };
    const answer = await post(port, SEARCH, `{"q":"${'x'.repeat(1024 ** 2)}"}`, headers);
    expect(answer.status).toBe(413);
  });

  it('are taken only by routes that take cursors', async () => {
    const { port } = node;
    expect(await post(port, '/api/v1/config', '{}')).toMatchObject({ status: 405, allow: 'GET, HEAD' });
    expect(await post(port, '/api/v1/log/follow', '{"cursor":"x"}')).toMatchObject({ status: 400 });
  });
});
