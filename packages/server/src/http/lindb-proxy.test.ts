import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendRequest, type TestResponse } from '../testing/send-request.ts';
import { stopClock } from '../testing/stop-clock.ts';
import { startTestNode } from '../testing/test-node.ts';

/** What LinDB's console asks with, as axios does. */
const AXIOS = 'application/json, text/plain, */*';

/**
 * The proxy of a LinDB broker: `/api/v1/proxy?target=HOST:PORT&path=PATH` is passed on to the target with the whole query
 * string, the client's method, headers and Host, and like every proxy in Go with `X-Forwarded-For`; status, headers and
 * body come back as they are.
 */
async function startLindbProxy(): Promise<number> {
  const server = createServer((from, to) => {
    const query = (from.url ?? '').split('?')[1] ?? '';
    const { target = '', path = '' } = Object.fromEntries(new URLSearchParams(query));
    const [host = '', port = ''] = target.split(':');
    const headers = { ...from.headers, 'x-forwarded-for': from.socket.remoteAddress };
    const outgoing = request({ host, port, path: `${path}?${query}`, method: from.method, headers });
    outgoing.on('error', () => to.writeHead(502).end());
    outgoing.on('response', (answer: IncomingMessage) => {
      to.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(to);
    });
    outgoing.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** A request as LinDB's console sends it to a broker. */
function requestThrough(
  proxy: number,
  port: number,
  { path, query = '', ...options }: { path: string; query?: string; method?: string; host?: string; accept?: string },
): Promise<TestResponse> {
  const { method = 'GET', host = 'localhost:9000', accept = AXIOS } = options;
  const target = `target=127.0.0.1:${port}&path=${encodeURIComponent(path)}`;
  return sendRequest(proxy, `/api/v1/proxy?${target}${query && `&${query}`}`, { method, headers: { accept, host } });
}

/** The console sends no credentials to nodes. */
const OPEN = { auth: { allowAnonymous: true } };

describe("behind LinDB's console", () => {
  it('the three routes of the contract respond as they do directly', async () => {
    const { port } = await startTestNode({ files: { 'a.log': 'one\ntwo\n' }, settings: OPEN });
    const proxy = await startLindbProxy();
    for (const [path, query] of [
      ['/api/v1/config', ''],
      ['/api/v1/log/list', ''],
      ['/api/v1/log/view', 'file=a.log&size=262144'],
    ] as const) {
      const through = await requestThrough(proxy, port, { path, query });
      const direct = await sendRequest(port, `${path}?${query}`);
      expect({ path, status: through.status, body: through.body.toString() }).toEqual({
        path,
        status: 200,
        body: direct.body.toString(),
      });
    }
  });

  it.each([
    ['a file that is not there', 404, { path: '/api/v1/log/view', query: 'file=no.log' }, 'no log file named "no.log"'],
    ['a name outside the directory', 400, { path: '/api/v1/log/view', query: 'file=..%2Fx' }, 'invalid file name'],
    ['a size that is none', 400, { path: '/api/v1/log/view', query: 'file=a.log&size=x' }, 'size'],
    ['a route that is none', 404, { path: '/api/v1/nothing' }, 'no such route; see /docs'],
    ['another method', 405, { path: '/api/v1/config', method: 'POST' }, 'this route is read-only: use GET, HEAD'],
    [
      'a URL that is too long',
      414,
      { path: '/api/v1/log/view', query: `file=${'x'.repeat(9000)}` },
      'http.max-url-bytes',
    ],
    ['another host', 403, { path: '/api/v1/config', host: 'lindb.example:9000' }, 'add it to http.allowed-hosts'],
    ['a search that is none', 400, { path: '/api/v1/log/search', query: 'regex=(' }, ''],
  ] as const)('the error for %s is its detail as plain text', async (_name, status, wanted, detail) => {
    const { port } = await startTestNode({ files: { 'a.log': 'one\n' }, settings: OPEN });
    const proxy = await startLindbProxy();
    const { status: got, headers, body } = await requestThrough(proxy, port, wanted);
    expect({ status: got, type: headers['content-type'] }).toEqual({ status, type: 'text/plain; charset=utf-8' });
    expect(body.toString()).toContain(detail);
    expect(body.toString()).not.toMatch(/[{}]|^[A-Z_]+:/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('a node that does not serve everyone says which setting does', async () => {
    const { port } = await startTestNode();
    const { status, body } = await requestThrough(await startLindbProxy(), port, { path: '/api/v1/config' });
    expect(status).toBe(403);
    expect(body.toString()).toContain('auth.allow-anonymous');
  });

  it('an exhausted rate is plain text, too', async () => {
    const proxy = await startLindbProxy();
    const { port } = await startTestNode({ settings: { ...OPEN, http: { maxRequestsPerSecond: 1 } } });
    stopClock();
    const statuses: number[] = [];
    for (let number = 0; number < 2; number++) {
      const { status, headers, body } = await requestThrough(proxy, port, { path: '/api/v1/nothing' });
      statuses.push(status);
      expect(headers['content-type']).toBe('text/plain; charset=utf-8');
      expect(body.toString()).not.toContain('{');
    }
    expect(statuses).toEqual([404, 429]);
  });

  it('the name of its console is allowed by http.allowed-hosts', async () => {
    const { port } = await startTestNode({ settings: { ...OPEN, http: { allowedHosts: ['lindb.example'] } } });
    const { status } = await requestThrough(await startLindbProxy(), port, {
      path: '/api/v1/log/list',
      host: 'lindb.example:9000',
    });
    expect(status).toBe(200);
  });
});

describe('an error for anyone else', () => {
  it.each([
    [AXIOS, 'application/problem+json'],
    ['*/*', 'application/problem+json'],
    ['application/json', 'application/problem+json'],
    ['application/problem+json', 'application/problem+json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/problem+json'],
    ['text/plain, */*', 'application/problem+json'],
    ['text/html', 'application/problem+json'],
    ['text/plain', 'text/plain'],
    ['text/plain, text/html', 'text/plain'],
  ])('who accepts %s is %s', async (accept, type) => {
    const { port } = await startTestNode();
    for (const query of ['', '?target=127.0.0.1:9000', '?path=/api/v1/log/view', '?file=no.log&target=x']) {
      const { headers } = await sendRequest(port, `/api/v1/log/view${query}`, { headers: { accept } });
      expect(headers['content-type']).toBe(`${type}; charset=utf-8`);
    }
  });
});
