import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { createToken } from '../auth/tokens.ts';
import { exchange, requestProblem, sendRequest } from '../testing/send-request.ts';
import { shareTestNode, startTestNode } from '../testing/test-node.ts';
import { createHostCheck, createMemberOrigins } from './request/hosts-and-origins.ts';

const ORIGIN = 'https://console.example';
const node = shareTestNode();
const named = shareTestNode({ settings: { http: { allowedHosts: ['logs.example'] } } });
const crossed = shareTestNode({ settings: { http: { corsOrigins: [ORIGIN] } } });

describe('the Host header of a node without tokens', () => {
  it.each([
    'evil.example',
    'evil.example:7300',
    'localhost.evil.example',
    '127.0.0.1.nip.io',
    '[::1].evil.example',
    '127.0.0.1@evil.example',
    'notlocalhost',
    ' ',
    '*',
  ])('that is %j is refused: it may be a rebound name', async (host) => {
    const { port } = node;
    const { status, code, detail } = await requestProblem(port, '/api/v1/config', { headers: { host } });
    expect({ status, code }).toEqual({ status: 403, code: 'HOST_NOT_ALLOWED' });
    expect(detail).toContain('http.allowed-hosts');
  });

  it.each([
    'localhost',
    'LOCALHOST:80',
    'localhost.',
    'app.localhost',
    '127.0.0.1',
    '127.0.0.1:1',
    '[::1]',
    '[::1]:7300',
    'logs.example',
    'LOGS.example:80',
  ])('that is %j is let in', async (host) => {
    const { port } = named;
    expect((await sendRequest(port, '/api/v1/config', { headers: { host } })).status).toBe(200);
  });

  it.each(['10.1.2.3', hostname(), 'db-1', 'DB-1:7300'])(
    'that is %j is let in where everyone is served; from this machine it was passed on by a proxy',
    async (host) => {
      const names = host === hostname() ? {} : { node: { hostName: 'db-1' } };
      const { port } = await startTestNode({ settings: names });
      const { port: open } = await startTestNode({ settings: { ...names, auth: { allowAnonymous: true } } });
      const headers = { host };
      expect((await sendRequest(open, '/api/v1/config', { headers })).status).toBe(200);
      const { status, code, detail } = await requestProblem(port, '/api/v1/config', { headers });
      expect({ status, code }).toEqual({ status: 403, code: 'HOST_NOT_ALLOWED' });
      for (const setting of ['http.allowed-hosts', 'auth.token-file', 'auth.allow-anonymous'])
        expect(detail).toContain(setting);
      expect((await sendRequest(port, '/health/ready', { headers })).status).toBe(200);
    },
  );

  it('guards the open routes and unknown paths as well', async () => {
    const { port } = node;
    for (const path of ['/health/live', '/metrics', '/', '/assets/licences.txt', '/none']) {
      expect((await sendRequest(port, path, { headers: { host: 'evil.example' } })).status).toBe(403);
    }
  });

  it('counts less than the authority of an absolute target', async () => {
    const { port } = node;
    const asked = (target: string, host: string) =>
      exchange(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await asked('http://localhost/health/live', 'evil.example')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await asked('HTTP://127.0.0.1:9/health/live?x', 'localhost')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await asked('http://evil.example/health/live', 'localhost')).toMatch(/^HTTP\/1\.1 403 /);
    expect(await asked('http://user@evil.example/health/live', 'localhost')).toMatch(/^HTTP\/1\.1 403 /);
    expect(await asked('http://localhost', 'localhost')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await asked('ftp://localhost/health/live', 'localhost')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('may be missing only from a client too old to send it', async () => {
    const { port } = node;
    expect(await exchange(port, 'GET /health/live HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    const refused = await exchange(port, 'GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(refused).toMatch(/^HTTP\/1\.1 400 .*"code":"BAD_REQUEST"/s);
  });

  it('does not matter once a token is required', () => {
    const check = createHostCheck(['*']);
    expect(() => check('anything.example')).not.toThrow();
  });

  it('that is empty is no name of the node, even where a setting is empty', () => {
    const check = createHostCheck(['db-1', '']);
    expect(() => check('')).toThrow('http.allowed-hosts');
    expect(() => check(':7300')).toThrow('http.allowed-hosts');
  });
});

describe('pages of other origins', () => {
  const origin = ORIGIN;

  it('may read nothing by default', async () => {
    const { port } = node;
    const { headers } = await sendRequest(port, '/api/v1/config', { headers: { origin } });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    const preflight = { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'GET' } };
    expect((await sendRequest(port, '/api/v1/config', preflight)).status).toBe(405);
  });

  it('may read responses and errors if they are configured, and others still may not', async () => {
    const { port } = crossed;
    for (const path of ['/api/v1/config', '/api/v1/log/view']) {
      const { headers } = await sendRequest(port, path, { headers: { origin } });
      expect(headers).toMatchObject({ 'access-control-allow-origin': origin, vary: expect.stringMatching(/^Origin/) });
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
    const { headers } = await sendRequest(port, '/api/v1/config', { headers: { origin: 'https://evil.example' } });
    expect(headers.vary).toBe('Origin, Accept-Encoding');
    expect(headers['access-control-allow-origin']).toBeUndefined();
  });

  it('do not make caches forget that parts of the console differ by encoding', async () => {
    const { port } = crossed;
    expect((await sendRequest(port, '/')).headers.vary).toBe('Accept-Encoding, Origin');
  });

  it('that are configured get a response to their preflight, also if the rest needs a token', async () => {
    const { port } = crossed;
    const headers = {
      origin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    };
    const granted = await sendRequest(port, '/api/v1/config', { method: 'OPTIONS', headers });
    expect(granted).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-origin': origin, 'access-control-allow-methods': 'GET, HEAD, POST' },
    });
    expect(granted.headers['access-control-allow-headers']).toContain('Authorization');
    const refused = await sendRequest(port, '/api/v1/config', {
      method: 'OPTIONS',
      headers: { ...headers, origin: 'null' },
    });
    expect(refused.status).toBe(405);
    expect((await sendRequest(port, '/api/v1/config', { method: 'OPTIONS', headers: { origin } })).status).toBe(405);
  });

  it('may all read where "*" is configured', async () => {
    const { port } = await startTestNode({ settings: { http: { corsOrigins: ['*'] } } });
    const { headers } = await sendRequest(port, '/api/v1/config', { headers: { origin: 'https://any.example' } });
    expect(headers['access-control-allow-origin']).toBe('https://any.example');
  });
});

describe('what a page of another site makes a browser send', () => {
  const origin = ORIGIN;
  const API = ['/api/v1/log/search?q=x', '/api/v1/config', '/metrics', '/openapi.json', '/api/v1/nodes/x/log/list'];
  const PAGES = ['/', '/logs?q=x', '/docs', '/health/ready', '/assets/porthole.css'];
  const navigation = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

  it.each(['cross-site', 'same-site', 'anything'])(
    'is refused if it is %s and for the interface, and a link to a page works',
    async (site) => {
      const { port } = node;
      for (const path of API) {
        const { status, code, detail } = await requestProblem(port, path, { headers: { 'sec-fetch-site': site } });
        expect({ path, status, code }).toEqual({ path, status: 403, code: 'ORIGIN_NOT_ALLOWED' });
        expect(detail).toContain('http.cors-origins');
      }
      const headers = { ...navigation, 'sec-fetch-site': site };
      for (const path of PAGES) expect((await sendRequest(port, path, { headers })).status, path).toBe(200);
      expect((await sendRequest(port, API[0] ?? '', { headers })).status).toBe(403);
    },
  );

  it('is refused before its credentials are looked at, and counts as no failed attempt', async () => {
    const tokenFile = join(tempDir(), 'tokens');
    writeFileSync(tokenFile, createToken('ann').line);
    const { port } = await startTestNode({ settings: { auth: { tokenFile, maxFailuresPerMinute: 1 } } });
    const headers = { 'sec-fetch-site': 'cross-site' };
    for (let sent = 0; sent < 3; sent++)
      expect(await requestProblem(port, '/api/v1/config', { headers })).toMatchObject({ code: 'ORIGIN_NOT_ALLOWED' });
    expect(await requestProblem(port, '/api/v1/config')).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('is refused by its origin alone where something may change, from a browser that does not say its site', async () => {
    const { port } = crossed;
    const status = async (method: string, path: string, from: string) =>
      (await sendRequest(port, path, { method, headers: { origin: from } })).status;
    for (const [method, path] of [
      ['PUT', '/api/v1/views/x'],
      ['DELETE', '/api/v1/views/x'],
      ['DELETE', '/api/v1/nodes/x'],
      ['POST', '/mcp'],
    ] as const) {
      for (const from of ['https://evil.example', 'null', `http://127.0.0.1:${port + 1}`])
        expect(await status(method, path, from), `${method} ${path}`).toBe(403);
      for (const from of [origin, `http://127.0.0.1:${port}`]) expect(await status(method, path, from)).not.toBe(403);
    }
  });

  it('is served if its origin is configured, and so is what the console and people send', async () => {
    const { port } = crossed;
    const status = async (headers: Record<string, string>) =>
      (await sendRequest(port, '/api/v1/config', { headers })).status;
    expect(await status({ 'sec-fetch-site': 'cross-site', origin })).toBe(200);
    expect(await status({ 'sec-fetch-site': 'same-site', origin })).toBe(200);
    expect(await status({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })).toBe(403);
    expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    for (const site of ['same-origin', 'none']) expect(await status({ 'sec-fetch-site': site })).toBe(200);
    expect(await status({})).toBe(200);
  });
});

describe('the consoles of other members', () => {
  const member = (id: string, url: string, node = {}) => ({
    ...{ id, url, isSelf: false },
    node: { hostIp: '', hostName: '', grpcPort: 0, httpPort: 0, version: '', onlineTime: 0, ...node },
  });

  it('may read this node, by the address or the name they are known by, and no other page may', async () => {
    const members = ['n2=http://10.0.0.2:7300', 'n3=https://db-3.example'];
    const { port } = await startTestNode({ settings: { cluster: { nodeId: 'n1', members } } });
    const read = async (origin: string) =>
      sendRequest(port, '/api/v1/log/list', { headers: { origin, 'sec-fetch-site': 'cross-site' } });
    for (const origin of ['http://10.0.0.2:7300', 'https://db-3.example']) {
      const { status, headers } = await read(origin);
      expect({ status, allowed: headers['access-control-allow-origin'] }).toEqual({ status: 200, allowed: origin });
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
    for (const origin of ['https://10.0.0.2:7300', 'http://10.0.0.2', 'http://db-3.example', 'null'])
      expect((await read(origin)).status).toBe(403);
    const { headers } = await sendRequest(port, '/');
    expect(headers['content-security-policy']).toContain(
      "connect-src 'self' http://10.0.0.2:7300 https://db-3.example;",
    );
  });

  it('are served by what nodes report of themselves, too, with the same port', () => {
    const origins = createMemberOrigins(true, () => [
      member('a', 'http://10.0.0.1:7300/', { hostIp: '10.0.0.1', hostName: 'DB-1' }),
      member('b', 'http://127.0.0.1:7310/', { hostIp: '127.0.0.1', hostName: 'box' }),
    ]);
    for (const origin of ['http://db-1:7300', 'http://10.0.0.1:7300', 'http://localhost:7310', 'http://box:7310'])
      expect(origins.has(origin), origin).toBe(true);
    for (const origin of ['http://db-1', 'http://localhost:7300', 'https://db-1:7300', ''])
      expect(origins.has(origin), origin).toBe(false);
  });

  it('add nothing to the policy of the page but plain origins, and few', () => {
    const hostile = [
      member('x', 'http://a;sandbox:80/'),
      member('y', 'http://*.example/'),
      member('z', "http://'unsafe-inline'/"),
    ];
    const many = Array.from({ length: 100 }, (_, index) => member(`m${index}`, `http://10.0.0.${index}:7300/`));
    expect(createMemberOrigins(true, () => hostile).fallbacks()).toEqual([]);
    expect(createMemberOrigins(true, () => many).fallbacks()).toHaveLength(32);
  });
});
