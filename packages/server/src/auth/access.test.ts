import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';
import { TokenCache } from './access.ts';
import type { Identity } from './identity.ts';
import { startGuardedNode } from './testing/guarded-node.ts';
import { createTlsClient } from './testing/tls-client.ts';
import { createToken, type TokenCheck } from './tokens.ts';

const LIST = '/api/v1/log/list';
const CONFIG = '/api/v1/config';

const ANN: Identity = { name: 'ann', kind: 'token', roles: ['viewer'] };

function tokens(): TokenCheck {
  return { findOwner: () => undefined };
}

describe('what a connection has shown', () => {
  it('is known again on that connection, as it was, while the same tokens count', () => {
    const cache = new TokenCache();
    const [socket, other] = [new Socket(), new Socket()];
    const [now, later] = [tokens(), tokens()];
    cache.set(socket, { authorization: 'Bearer good', tokens: now }, ANN);
    expect(cache.get(socket, { authorization: 'Bearer good', tokens: now })).toBe(ANN);
    for (const authorization of ['', 'Bearer goo', 'Bearer good ', 'Bearer gooD', 'bearer good', 'Aearer good'])
      expect(cache.get(socket, { authorization, tokens: now })).toBeUndefined();
    expect(cache.get(other, { authorization: 'Bearer good', tokens: now })).toBeUndefined();
    expect(cache.get(socket, { authorization: 'Bearer good', tokens: later })).toBeUndefined();
  });

  it('is forgotten for what was shown after it', () => {
    const cache = new TokenCache();
    const [socket, now] = [new Socket(), tokens()];
    const bob: Identity = { ...ANN, name: 'bob' };
    cache.set(socket, { authorization: 'Bearer a', tokens: now }, ANN);
    cache.set(socket, { authorization: 'Bearer b', tokens: now }, bob);
    expect(cache.get(socket, { authorization: 'Bearer b', tokens: now })).toBe(bob);
    expect(cache.get(socket, { authorization: 'Bearer a', tokens: now })).toBeUndefined();
  });
});

/** Asks over one connection, as a proxy does for many. */
async function startBehindProxy() {
  const made = { viewer: createToken('ann', ['viewer']), config: createToken('bob', ['config']) };
  const path = join(tempDir(), 'tokens');
  writeFileSync(path, `${made.viewer.line}\n${made.config.line}\n`);
  const node = await startTestNode({ settings: { auth: { tokenFile: path, maxFailuresPerMinute: 0 } } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const statusOf = async (route: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return (await sendRequest(node.port, route, { agent, headers })).status;
  };
  return { ...node, path, made, statusOf };
}

describe('requests of many over one connection', () => {
  it('are judged each by its own token, whatever was shown before', async () => {
    const { made, statusOf } = await startBehindProxy();
    const [viewer, config] = [made.viewer.token, made.config.token];
    const wrong = `${viewer.slice(0, -1)}${viewer.endsWith('A') ? 'B' : 'A'}`;
    for (let round = 0; round < 3; round++) {
      expect(await statusOf(LIST, viewer)).toBe(200);
      expect(await statusOf(LIST, viewer)).toBe(200);
      expect(await statusOf(CONFIG, viewer)).toBe(403);
      expect(await statusOf(LIST, wrong)).toBe(401);
      expect(await statusOf(LIST)).toBe(401);
      expect(await statusOf(CONFIG, config)).toBe(200);
      expect(await statusOf(LIST, config)).toBe(403);
    }
  });

  it('are refused once their token is withdrawn, and have the roles it has now', async () => {
    const { made, statusOf, path, running } = await startBehindProxy();
    const { token, line } = made.viewer;
    expect(await statusOf(LIST, token)).toBe(200);
    writeFileSync(path, line.replace('roles=viewer', 'roles=config'));
    await running.reload();
    expect([await statusOf(LIST, token), await statusOf(CONFIG, token)]).toEqual([403, 200]);
    writeFileSync(path, made.config.line);
    await running.reload();
    expect([await statusOf(LIST, token), await statusOf(CONFIG, token)]).toEqual([401, 401]);
  });

  it('without a token are judged by the certificate of the connection, not by a token before them', async () => {
    const node = await startGuardedNode();
    const { cert, key } = node.issueCertificate('config');
    const send = createTlsClient(node.port, { ca: node.authority.cert, cert, key });
    const headers = { authorization: `Bearer ${node.tokens.viewer ?? ''}` };
    for (let round = 0; round < 2; round++) {
      expect((await send(LIST, { headers })).status).toBe(200);
      expect((await send(LIST)).status).toBe(403);
      expect((await send(CONFIG)).status).toBe(200);
      expect((await send(CONFIG, { headers })).status).toBe(403);
    }
  });
});
