import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { credentials } from '@grpc/grpc-js';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { connect } from '../grpc/testing/connect.ts';
import { createAuthority, issue, issueForNode } from './testing/certificates.ts';
import { type GuardedNode, startGuardedNode } from './testing/guarded-node.ts';
import { createSigner, signJwt, toKeySet } from './testing/jwt-maker.ts';
import { createTlsClient } from './testing/tls-client.ts';
import { createToken } from './tokens.ts';

const LIST = '/api/v1/log/list';

function clientWith({ port, authority }: GuardedNode, token: string) {
  const send = createTlsClient(port, { ca: authority.cert });
  return (path: string) => send(path, { headers: { authorization: `Bearer ${token}` } });
}

/** What health and metrics say of the files, to someone who may see it. */
async function readReloadState(node: GuardedNode): Promise<{ ok: boolean; detail: string; failing: string }> {
  const send = clientWith(node, await signJwt(node.signer, { groups: ['admin'] }));
  const ready = JSON.parse((await send('/health/ready')).body) as {
    checks: { name: string; ok: boolean; detail: string }[];
  };
  const found = ready.checks.find(({ name }) => name === 'credentials');
  const [, failing = ''] = /^porthole_credential_files_failing (\d+)$/m.exec((await send('/metrics')).body) ?? [];
  return { ok: found?.ok ?? false, detail: found?.detail ?? '', failing };
}

describe('a token file that changes', () => {
  it('is read again: new tokens count, old ones do not', async () => {
    const node = await startGuardedNode();
    const before = clientWith(node, node.tokens.viewer ?? '');
    expect((await before(LIST)).status).toBe(200);
    const { token, line } = createToken('new', ['viewer']);
    writeFileSync(`${node.tokenFile}.next`, line);
    renameSync(`${node.tokenFile}.next`, node.tokenFile);
    await eventually(async () => expect((await clientWith(node, token)(LIST)).status).toBe(200));
    expect((await before(LIST)).status).toBe(401);
    expect(await readReloadState(node)).toEqual({ ok: true, detail: 'up to date', failing: '0' });
  });

  it('but is invalid keeps the old tokens, and is reported', async () => {
    const node = await startGuardedNode();
    writeFileSync(node.tokenFile, 'my-clear-token\n');
    await node.running.reload();
    expect((await clientWith(node, node.tokens.viewer ?? '')(LIST)).status).toBe(200);
    const state = await readReloadState(node);
    expect(state).toMatchObject({ ok: false, failing: '1' });
    expect(state.detail).toMatch(/^auth\.token-file: .*tokens:1: expected .*; the last valid version stays in use$/);
    expect(state.detail).not.toContain('my-clear-token');
    rmSync(node.tokenFile);
    await node.running.reload();
    expect((await readReloadState(node)).detail).toContain('ENOENT');
    writeFileSync(node.tokenFile, createToken('new').line);
    await node.running.reload();
    expect((await readReloadState(node)).ok).toBe(true);
  });
});

describe('a file of keys that changes', () => {
  it('is read again, and JWTs of withdrawn keys stop to count, remembered or not', async () => {
    const node = await startGuardedNode();
    const old = await signJwt(node.signer, { groups: ['viewer'] });
    expect((await clientWith(node, old)(LIST)).status).toBe(200);
    const next = createSigner('key-2');
    writeFileSync(node.keysFile, JSON.stringify(toKeySet(next)));
    const fresh = await signJwt(next, { groups: ['viewer'] });
    await eventually(async () => expect((await clientWith(node, fresh)(LIST)).status).toBe(200));
    expect((await clientWith(node, old)(LIST)).status).toBe(401);
  });

  it('but is broken leaves the old keys', async () => {
    const node = await startGuardedNode();
    for (const text of ['{', '{"keys":[]}', '{"keys":[{"kty":"oct","k":"AAAA"}]}', '[]']) {
      writeFileSync(node.keysFile, text);
      await node.running.reload();
      expect((await clientWith(node, await signJwt(node.signer, { groups: ['viewer'] }))(LIST)).status).toBe(200);
      expect((await readReloadState(node)).detail).toContain('auth.jwks-file: ');
    }
  });
});

describe('a certificate that changes', () => {
  it('is shown to new connections over HTTPS and gRPC; those that stand stay', async () => {
    const node = await startGuardedNode();
    const standing = createTlsClient(node.port, { ca: node.authority.cert });
    const { fingerprint: before } = await standing('/health/live');
    const callOld = connect(node.running.node.grpcPort, {
      channel: credentials.createSsl(node.authority.cert),
      token: node.tokens.viewer ?? '',
    });
    await callOld.call('ListLogs', {});

    const other = createAuthority(node.files, 'other-ca');
    const next = issueForNode(other, node.files, 'next');
    copyFileSync(next.certFile, node.certificate.certFile);
    copyFileSync(next.keyFile, node.certificate.keyFile);
    await eventually(async () => {
      const { fingerprint } = await createTlsClient(node.port, { ca: other.cert })('/health/live');
      expect(fingerprint).not.toBe(before);
    });
    const channel = credentials.createSsl(other.cert);
    const callNew = connect(node.running.node.grpcPort, { channel, token: node.tokens.viewer ?? '' });
    await expect(callNew.call('ListLogs', {})).resolves.toBeDefined();
    await expect(callOld.call('ListLogs', {})).resolves.toBeDefined();
    expect((await standing('/health/live')).fingerprint).toBe(before);
  });

  it('but does not fit its key leaves both', async () => {
    const node = await startGuardedNode();
    const next = issueForNode(node.authority, node.files, 'next');
    copyFileSync(next.certFile, node.certificate.certFile);
    await node.running.reload();
    expect((await createTlsClient(node.port, { ca: node.authority.cert })('/health/live')).status).toBe(200);
    expect(await readReloadState(node)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('cannot be used together'),
    });
    copyFileSync(next.keyFile, node.certificate.keyFile);
    await node.running.reload();
    expect(await readReloadState(node)).toMatchObject({ ok: true });
  });
});

/** One request on a connection of its own, resumed if a session is given. */
function requestResumed(port: number, options: ConnectionOptions): Promise<{ status: number; session: Buffer }> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port, ...options });
    let session = Buffer.alloc(0);
    let text = '';
    socket.on('session', (given) => {
      session = given;
    });
    socket.on('data', (part) => {
      text += part;
    });
    socket.once('error', reject);
    socket.once('end', () => resolve({ status: Number(text.split(' ')[1]), session }));
    socket.write(`GET ${LIST} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  });
}

describe('an authority of clients that changes', () => {
  it('counts for connections that are resumed as well', async () => {
    const node = await startGuardedNode();
    const { cert, key } = node.issueCertificate('viewer');
    const options = { ca: node.authority.cert, cert, key };
    const { status, session } = await requestResumed(node.port, options);
    expect({ status, hasSession: session.length > 0 }).toEqual({ status: 200, hasSession: true });
    expect((await requestResumed(node.port, { ...options, session })).status).toBe(200);
    const other = createAuthority(node.files, 'other-ca');
    copyFileSync(other.certFile, node.authority.certFile);
    await node.running.reload();
    expect((await requestResumed(node.port, { ...options, session })).status).toBe(401);
  });

  it('counts for new connections over HTTPS and gRPC', async () => {
    const node = await startGuardedNode();
    const other = createAuthority(node.files, 'other-ca');
    const [known, next] = [node.issueCertificate('viewer'), issue(other, node.files, 'admin')];
    const readStatus = async ({ cert, key }: { cert: Buffer; key: Buffer }) =>
      (await createTlsClient(node.port, { ca: node.authority.cert, cert, key })(LIST)).status;
    expect([await readStatus(known), await readStatus(next)]).toEqual([200, 401]);
    const before = node.authority.cert;
    copyFileSync(other.certFile, node.authority.certFile);
    await eventually(async () => expect(await readStatus(next)).toBe(200));
    expect(await readStatus(known)).toBe(401);
    const channel = credentials.createSsl(before, next.key, next.cert);
    await expect(connect(node.running.node.grpcPort, { channel }).call('ListLogs', {})).resolves.toBeDefined();
  });
});
