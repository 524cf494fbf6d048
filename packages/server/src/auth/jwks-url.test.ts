import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';
import { fetchKeySet } from './jwt-keys.ts';
import { AUDIENCE, createSigner, ISSUER, signJwt, toKeySet } from './testing/jwt-maker.ts';

interface Provider {
  url: string;
  requests: string[];
  answer: { status: number; headers?: Record<string, string>; body: string };
}

async function startProvider(body: string): Promise<Provider> {
  const provider: Provider = { url: '', requests: [], answer: { status: 200, body } };
  const server = createServer((request, response) => {
    provider.requests.push(request.url ?? '');
    response.writeHead(provider.answer.status, provider.answer.headers ?? {}).end(provider.answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  return provider;
}

const auth = (jwksUrl: string) => ({ jwksUrl, jwtIssuer: ISSUER, jwtAudience: AUDIENCE, jwtRoles: ['ops=viewer'] });

describe('a node with the address of keys', () => {
  it('identifies clients by JWT, and fetches the keys once', async () => {
    const signer = createSigner('key-1');
    const provider = await startProvider(JSON.stringify(toKeySet(signer)));
    const { port } = await startTestNode({ settings: { auth: auth(provider.url) } });
    const requestAs = async (token: string) =>
      (await sendRequest(port, '/api/v1/log/list', { headers: { authorization: `Bearer ${token}` } })).status;
    for (let count = 0; count < 3; count++) expect(await requestAs(await signJwt(signer))).toBe(200);
    const strangers = Array.from({ length: 20 }, (_, index) => signJwt(createSigner(`unknown-${index}`)));
    for (const token of await Promise.all(strangers)) expect(await requestAs(token)).toBe(401);
    expect(provider.requests).toEqual(['/keys']);
  });

  it('starts while they are not available, refuses JWTs and reports why in its health', async () => {
    const provider = await startProvider('');
    provider.answer = { status: 503, body: '' };
    const { port, running } = await startTestNode({ settings: { auth: auth(provider.url) } });
    const headers = { authorization: `Bearer ${await signJwt(createSigner('key-1'))}` };
    expect((await sendRequest(port, '/api/v1/log/list', { headers })).status).toBe(401);
    const ready = JSON.parse((await sendRequest(port, '/health/ready')).body.toString()) as { status: string };
    expect(ready.status).toBe('degraded');
    expect(running.url).toBeDefined();
  });
});

describe('keys are not fetched', () => {
  it('from where a redirect leads', async () => {
    const target = await startProvider(JSON.stringify(toKeySet(createSigner('key-1'))));
    const provider = await startProvider('');
    provider.answer = { status: 302, headers: { location: target.url }, body: '' };
    await expect(fetchKeySet(provider.url)).rejects.toThrow();
    expect(target.requests).toEqual([]);
  });

  it.each([
    [{ status: 200, body: ' '.repeat(300_000) }, 'is larger than 262144 bytes'],
    [{ status: 404, body: '{}' }, 'returned status 404'],
    [{ status: 200, body: '<html>' }, 'not JSON'],
    [{ status: 200, body: '{"keys":{}}' }, 'not a set of keys'],
    [{ status: 200, body: '{"keys":[{"kty":"oct","k":"AAAA"}]}' }, 'contains no public key'],
  ])('from an answer that is none', async (answer, reason) => {
    const provider = await startProvider('');
    provider.answer = answer;
    await expect(fetchKeySet(provider.url)).rejects.toThrow(reason);
  });
});
