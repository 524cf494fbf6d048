import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { exchange, requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';
import { createHostCheck } from './request/hosts-and-origins.ts';

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
    const { port } = await startTestNode();
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
    '10.1.2.3',
    hostname(),
    'db-1',
    'DB-1:7300',
    'logs.example',
  ])('that is %j is let in', async (host) => {
    const names = host === hostname() ? {} : { node: { hostName: 'db-1' } };
    const { port } = await startTestNode({ settings: { ...names, http: { allowedHosts: ['logs.example'] } } });
    expect((await sendRequest(port, '/api/v1/config', { headers: { host } })).status).toBe(200);
  });

  it('guards the open routes and unknown paths as well', async () => {
    const { port } = await startTestNode();
    for (const path of ['/health/live', '/metrics', '/', '/assets/licences.txt', '/none']) {
      expect((await sendRequest(port, path, { headers: { host: 'evil.example' } })).status).toBe(403);
    }
  });

  it('counts less than the authority of an absolute target', async () => {
    const { port } = await startTestNode();
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
    const { port } = await startTestNode();
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
  const origin = 'https://console.example';

  it('may read nothing by default', async () => {
    const { port } = await startTestNode();
    const { headers } = await sendRequest(port, '/api/v1/config', { headers: { origin } });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    const preflight = { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'GET' } };
    expect((await sendRequest(port, '/api/v1/config', preflight)).status).toBe(405);
  });

  it('may read responses and errors if they are configured, and others still may not', async () => {
    const { port } = await startTestNode({ settings: { http: { corsOrigins: [origin] } } });
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
    const { port } = await startTestNode({ settings: { http: { corsOrigins: [origin] } } });
    expect((await sendRequest(port, '/')).headers.vary).toBe('Accept-Encoding, Origin');
  });

  it('that are configured get a response to their preflight, also if the rest needs a token', async () => {
    const { port } = await startTestNode({ settings: { http: { corsOrigins: [origin] } } });
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
