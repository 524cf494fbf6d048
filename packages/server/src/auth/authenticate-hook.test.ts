import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createNode } from '../create-node.ts';
import { connectNode } from '../grpc/testing/connect.ts';
import { startNode } from '../start-node.ts';
import { testSettings } from '../testing/test-node.ts';
import type { Authenticate, AuthenticateRequest } from './authenticate-hook.ts';
import { createToken } from './tokens.ts';

async function embed(authenticate: Authenticate, settings = {}) {
  const dir = tempDir();
  const node = await createNode({
    authenticate,
    settings: testSettings(dir, { service: { logDir: '' }, ...settings }),
  });
  onTestFinished(() => node.close());
  return async (path: string, init: RequestInit & { source?: unknown } = {}) => {
    const { source, ...rest } = init;
    const response = await node.fetch(new Request(`https://shop.example.org${path}`, rest), {
      address: '192.0.2.1',
      ...(source !== undefined && { source }),
    });
    return {
      response,
      status: response.status,
      code: response.headers.get('content-type')?.includes('problem')
        ? ((await response.json()) as { code: string }).code
        : '',
    };
  };
}

const ROUTES = { viewer: '/api/v1/log/list', config: '/api/v1/config' };

describe('a program that authenticates', () => {
  it('gives each client the roles it has there, on any host name and from any machine', async () => {
    const seen: AuthenticateRequest[] = [];
    const ask = await embed((request) => {
      seen.push(request);
      const { cookie } = request.headers;
      return cookie === undefined ? null : { name: 'ann', roles: cookie === 'session=1' ? ['viewer'] : [] };
    });
    expect(await ask(ROUTES.viewer)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    expect(await ask(ROUTES.viewer, { headers: { cookie: 'session=1' } })).toMatchObject({ status: 200 });
    expect(await ask(ROUTES.config, { headers: { cookie: 'session=1' } })).toMatchObject({ code: 'FORBIDDEN' });
    expect(await ask(ROUTES.viewer, { headers: { cookie: 'session=2' } })).toMatchObject({ code: 'FORBIDDEN' });
    expect(seen[0]).toMatchObject({ transport: 'http', method: 'GET', url: ROUTES.viewer, address: '192.0.2.1' });
    expect(seen[0]?.source).toBeInstanceOf(Request);
  });

  it('may be asynchronous, and gets the request as its framework has it', async () => {
    const ask = await embed(
      async ({ source }) => (source as { user?: { name: string; roles: ['admin'] } }).user ?? null,
    );
    expect(await ask(ROUTES.config, { source: { user: { name: 'ann', roles: ['admin'] } } })).toMatchObject({
      status: 200,
    });
    expect(await ask(ROUTES.config, { source: {} })).toMatchObject({ status: 401 });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('the password of the store is hunter2');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no store'))],
    ['returns a user without a name', () => ({ roles: ['admin'] })],
    ['returns an unknown role', () => ({ name: 'ann', roles: ['admin', 'root'] })],
    ['returns true', () => true],
  ])('and %s gives nobody access', async (_, authenticate) => {
    const ask = await embed(authenticate as unknown as Authenticate);
    const refused = await ask(ROUTES.viewer);
    expect(refused).toMatchObject({ status: 503, code: 'AUTH_UNAVAILABLE' });
    // What needs no credentials is served.
    expect((await ask('/health/live')).status).toBe(200);
    expect((await ask('/')).status).toBe(200);
  });

  it('is asked only about clients that the node does not know itself', async () => {
    const file = join(tempDir(), 'tokens');
    const { token, line } = createToken('ops', ['admin']);
    writeFileSync(file, `${line}\n`);
    let asked = 0;
    const ask = await embed(
      () => {
        asked++;
        return null;
      },
      { auth: { tokenFile: file } },
    );
    expect(await ask(ROUTES.config, { headers: { authorization: `Bearer ${token}` } })).toMatchObject({ status: 200 });
    expect(asked).toBe(0);
    expect(await ask(ROUTES.config, { headers: { authorization: 'Bearer other' } })).toMatchObject({ status: 401 });
    expect(asked).toBe(1);
  });

  it('ends a follow when it no longer knows the client', async () => {
    let isSignedIn = true;
    const ask = await embed(() => (isSignedIn ? { name: 'ann', roles: ['viewer'] } : null));
    const { response } = await ask('/api/v1/log/follow');
    const text = response.text().catch((error: Error) => error.message);
    isSignedIn = false;
    await eventually(async () => expect(await text).toBeDefined());
  });

  it('and fails while a follow runs ends it after a few seconds; the own log and the access log have it', async () => {
    let isBroken = false;
    const dir = tempDir();
    const settings = testSettings(dir, { service: { logDir: '' } });
    const authenticate: Authenticate = async () => {
      if (isBroken) throw new Error('the store is gone');
      return { name: 'ann', roles: ['viewer'] };
    };
    const node = await createNode({ authenticate, settings });
    onTestFinished(() => node.close());
    const response = await node.fetch(new Request('http://localhost/api/v1/log/follow'));
    isBroken = true;
    await expect(response.text()).rejects.toThrow();
    const read = (name: string) => readFileSync(join(dir, 'own', name), 'utf8');
    await eventually(() => {
      expect(read('porthole.log')).toMatch(/\tERROR\t.*unexpected error while checking credentials/);
      expect(read('access.log')).toMatch(
        /refused\t\{"who":"ann",.*"operation":"logFollow",.*"code":"AUTH_UNAVAILABLE"/,
      );
    });
    expect(read('porthole.log')).not.toContain('the store is gone');
  });

  it('decides over gRPC too, and about a node that serves other machines', async () => {
    const authenticate: Authenticate = ({ transport, headers }) =>
      transport === 'grpc' && headers.authorization === 'Bearer ann' ? { name: 'ann', roles: ['viewer'] } : null;
    const settings = testSettings(tempDir(), { http: { host: '0.0.0.0' }, service: { logDir: '' } });
    const node = await startNode({ authenticate, settings });
    onTestFinished(() => node.stop());
    const connect = (token: string) => connectNode(node.node.grpcPort, { token });
    expect((await connect('ann').listLogs()).map(({ name }) => name)).toContain('porthole.log');
    await expect(connect('bob').listLogs()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});
