import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { startNode } from '../start-node.ts';
import { requestProblem, sendRequest } from '../testing/send-request.ts';
import { shareTestNode, startTestNode, testSettings } from '../testing/test-node.ts';

const LINES = 'first line\nsecond line\nthird line\n';

const node = shareTestNode({ files: { 'a.log': LINES } });

describe('errors', () => {
  it.each([
    undefined,
    '*/*',
    'application/json',
    'text/plain, */*;q=0.1',
    'text/html',
    'application/problem+json, text/plain',
  ])('are problem documents for a client that accepts %s', async (accept) => {
    const { port } = node;
    const { headers, body } = await sendRequest(port, '/api/v1/log/view', { headers: accept ? { accept } : {} });
    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(JSON.parse(body.toString())).toEqual({
      type: '/docs#FILE_NAME_MISSING',
      title: 'No file name given',
      status: 400,
      detail: 'give the name of a log file: ?file=NAME',
      code: 'FILE_NAME_MISSING',
    });
  });

  it.each(['text/plain', 'TEXT/PLAIN;q=0.5', 'text/plain, text/html'])(
    'are plain text for a client that accepts only %s',
    async (accept) => {
      const { port } = node;
      const { headers, body } = await sendRequest(port, '/api/v1/log/view', { headers: { accept } });
      expect(headers['content-type']).toBe('text/plain; charset=utf-8');
      expect(body.toString()).toBe('FILE_NAME_MISSING: give the name of a log file: ?file=NAME\n');
    },
  );

  it('for an unknown path are 404, however close it is to a route', async () => {
    const { port } = node;
    for (const path of [
      '/api/v1/',
      '/api/v1/config/',
      '/API/V1/config',
      '/api//v1/config',
      '/api/v1/%63onfig',
      '/x/../api/v1/config',
      '/api/v2/config',
      '/logs/',
      '/config/x',
      '/nodesx',
      '/%6Eodes/x',
      '/index.html',
      '/assets',
    ]) {
      expect(await requestProblem(port, path)).toMatchObject({ status: 404, code: 'ROUTE_NOT_FOUND' });
    }
  });
});

describe('methods', () => {
  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    '%s is refused with 405 and Allow',
    async (method) => {
      const { port } = node;
      for (const path of ['/api/v1/config', '/api/v1/log/view?file=a.log', '/', '/nodes/x', '/assets/x.js']) {
        const { status, code, headers } = await requestProblem(port, path, { method });
        expect({ status, code, allow: headers.allow }).toEqual({
          status: 405,
          code: 'METHOD_NOT_ALLOWED',
          allow: 'GET, HEAD',
        });
      }
    },
  );

  it.each([
    '/api/v1/config',
    '/api/v1/log/list',
    '/api/v1/log/view?file=a.log',
    '/api/v1/log/raw?file=a.log',
    '/api/v1/log/view?file=no',
    '/none',
    '/',
    '/nodes/x/y',
    '/assets/licences.txt',
    '/assets/none.js',
    '/docs',
  ])('HEAD %s has the headers of GET and no body', async (path) => {
    const { port } = node;
    const [get, head] = [await sendRequest(port, path), await sendRequest(port, path, { method: 'HEAD' })];
    const withoutDate = ({ date, ...others }: typeof get.headers) => ({ ...others, date: typeof date });
    expect(head.status).toBe(get.status);
    expect(withoutDate(head.headers)).toEqual(withoutDate(get.headers));
    expect(get.headers['content-length']).toBe(String(get.body.length));
    expect(head.body.length).toBe(0);
  });
});

describe('auth default', () => {
  it.each(['0.0.0.0', '::', '192.0.2.1', 'example.org'])(
    'a bind to %s without credentials is refused, with the two ways out',
    async (host) => {
      const starting = startNode({ settings: testSettings(tempDir(), { http: { port: 0, host } }) });
      await expect(starting).rejects.toThrow(/auth\.token-file.*auth\.allow-anonymous/s);
    },
  );

  it('binds to loopback by default', async () => {
    const { running } = await startTestNode();
    expect(running.node.hostIp).toBe('127.0.0.1');
    expect(running.url).toBe(`http://127.0.0.1:${running.node.httpPort}/`);
  });

  it('a node on all addresses reports an address that others can use', async () => {
    const { running, port } = await startTestNode({
      settings: { http: { host: '0.0.0.0' }, auth: { allowAnonymous: true } },
    });
    expect(running.node.hostIp).not.toBe('0.0.0.0');
    expect((await sendRequest(port, '/api/v1/config')).status).toBe(200);
  });
});
