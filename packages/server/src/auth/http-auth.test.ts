import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { startNode } from '../start-node.ts';
import { requestProblem, sendRequest } from '../testing/send-request.ts';
import { shareTestNode, startTestNode, testSettings } from '../testing/test-node.ts';
import { createToken } from './tokens.ts';

const { token, line } = createToken('ann');
const dir = mkdtempSync(join(tmpdir(), 'porthole-tokens-'));
const tokenFile = join(dir, 'tokens');
writeFileSync(tokenFile, `${line}\n`);
afterAll(() => rmSync(dir, { recursive: true }));

const node = shareTestNode({
  files: { 'a.log': 'text\n' },
  settings: { auth: { tokenFile, maxFailuresPerMinute: 0 } },
});

describe('a node with a token file', () => {
  it.each([
    '/api/v1/config',
    '/api/v1/log/list',
    '/api/v1/log/view?file=a.log',
    '/metrics',
    '/api/v1/nodes',
    '/docs',
    '/openapi.json',
    '/no-such-route',
  ])('gives nothing of %s away without a token', async (path) => {
    const { port } = node;
    const { status, code, detail, headers } = await requestProblem(port, path);
    expect({ status, code }).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
    expect(headers['www-authenticate']).toBe('Bearer realm="porthole"');
    expect(detail).toContain('Authorization: Bearer');
  });

  it.each(['Bearer wrong', 'Basic YW5uOnRva2Vu', 'Bearer', 'nonsense'])(
    'refuses the header %j, and does not repeat it',
    async (authorization) => {
      const { port } = node;
      const { status, detail } = await requestProblem(port, '/api/v1/config', { headers: { authorization } });
      expect(status).toBe(401);
      expect(detail).not.toContain(authorization);
    },
  );

  it('accepts requests with a token, whatever the Host header says', async () => {
    const { port } = node;
    const headers = { authorization: `Bearer ${token}`, host: 'any.example' };
    expect((await sendRequest(port, '/api/v1/log/view?file=a.log', { headers })).body.toString()).toBe('text\n');
    expect((await sendRequest(port, '/no-such-route', { headers })).status).toBe(404);
    expect((await sendRequest(port, '/api/v1/config', { headers, method: 'POST' })).status).toBe(405);
  });

  it.each([
    '/health/live',
    '/health/ready',
    '/',
    '/logs?q=secret',
    '/config',
    '/nodes/db-1/logs',
    '/assets/licences.txt',
    '/assets/porthole.css',
    '/assets/porthole.svg',
  ])('leaves %s public: it reveals nothing of the node', async (path) => {
    const { port } = node;
    expect((await sendRequest(port, path)).status).toBe(200);
  });

  it('serves the same console to everyone', async () => {
    const { port } = node;
    const open = await sendRequest(port, '/');
    const trusted = await sendRequest(port, '/', { headers: { authorization: `Bearer ${token}` } });
    expect(trusted.body.equals(open.body)).toBe(true);
  });

  it('shows the details of its health only with a token', async () => {
    const { port, logDir } = node;
    const open = (await sendRequest(port, '/health/ready')).body.toString();
    expect(JSON.parse(open)).toMatchObject({ status: 'ready', checks: Array(8).fill({ ok: true }) });
    expect(open).not.toContain(logDir);
    const headers = { authorization: `Bearer ${token}` };
    expect((await sendRequest(port, '/health/ready', { headers })).body.toString()).toContain(logDir);
  });

  it('may serve other machines', async () => {
    const { port } = await startTestNode({ settings: { http: { host: '0.0.0.0' }, auth: { tokenFile } } });
    expect((await sendRequest(port, '/api/v1/config')).status).toBe(401);
  });
});

describe('a token file that cannot be used', () => {
  it('prevents the start, with the setting and the reason', async () => {
    const dir = tempDir();
    const start = (tokenFile: string) => startNode({ settings: testSettings(dir, { auth: { tokenFile } }) });
    await expect(start(join(dir, 'absent'))).rejects.toThrow(/^auth\.token-file: .*ENOENT/);
    writeFileSync(join(dir, 'bad'), 'clear-text-token');
    await expect(start(join(dir, 'bad'))).rejects.toThrow(/^auth\.token-file: .*bad:1: expected/);
    await expect(start(join(dir, 'bad'))).rejects.not.toThrow(/clear-text-token/);
  });
});
