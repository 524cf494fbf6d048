import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EtcdConnection } from './etcd/etcd-connection.ts';
import { readAddress } from './member-address.ts';
import { startTestEtcd } from './testing/etcd.ts';
import { joinEtcd, memberIds } from './testing/members.ts';

const USER = { user: 'porthole', password: 'correct horse' };

/** What docs/cluster.md asks for. */
const MAY = { type: 'READWRITE', prefix: '/porthole/test/members/' } as const;

/** An authority, a server and a client it has signed. */
function makeCertificates() {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-tls-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = (name: string): string => join(dir, name);
  const openssl = (...args: string[]): void => {
    // programs: openssl
    execFileSync('openssl', args, { stdio: 'ignore' });
  };
  const newKey = (name: string): string[] => {
    return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file(`${name}.key`)];
  };
  openssl('req', '-x509', ...newKey('ca'), '-subj', '/CN=test authority', '-days', '2', '-out', file('ca.crt'));
  writeFileSync(file('names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n');
  for (const name of ['server', 'client']) {
    openssl('req', ...newKey(name), '-subj', `/CN=${name}`, '-out', file(`${name}.csr`));
    const authority = ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial'];
    const request = ['-in', file(`${name}.csr`), '-extfile', file('names'), '-days', '2', '-out', file(`${name}.crt`)];
    openssl('x509', '-req', ...authority, ...request);
  }
  const pem = (name: string): string => readFileSync(file(name), 'utf8');
  return { file, ca: pem('ca.crt'), cert: pem('client.crt'), key: pem('client.key') };
}

describe('an etcd that does not let everyone in', () => {
  it('is entered with a user and its password, also after it has forgotten its tokens', async () => {
    const etcd = await startTestEtcd();
    await etcd.requireUser(USER.user, USER.password, MAY);
    const first = await joinEtcd('a', etcd.url, USER);
    await joinEtcd('b', etcd.url, USER);
    await eventually(() => expect(memberIds(first)).toEqual(['a', 'b']));
    await etcd.restart();
    const third = await joinEtcd('c', etcd.url, USER);
    await eventually(() =>
      expect([memberIds(first), memberIds(third)]).toEqual([
        ['a', 'b', 'c'],
        ['a', 'b', 'c'],
      ]),
    );
  });

  it.each([
    ['a wrong password', { ...USER, password: 'wrong horse' }],
    ['no user', {}],
  ])('does not let a node in with %s; it says why without the password', async (_, access) => {
    const etcd = await startTestEtcd();
    await etcd.requireUser(USER.user, USER.password, MAY);
    const member = await joinEtcd('a', etcd.url, access);
    expect(member.state).toMatchObject({ state: 'stale', detail: expect.stringMatching(/user/) as string });
    expect(member.state.detail).not.toContain('horse');
  });

  it('is entered again with the credentials of now, without a restart of the node', async () => {
    const { file, ca, cert, key } = makeCertificates();
    const server = { certFile: file('server.crt'), keyFile: file('server.key'), clientCaFile: file('ca.crt') };
    const etcd = await startTestEtcd({ tls: server });
    const now = { password: 'of yesterday', tls: { ca } as { ca: string; cert?: string; key?: string } };
    const member = await joinEtcd('a', etcd.url, {
      user: 'porthole',
      password: () => now.password,
      tls: () => now.tls,
    });
    expect(member.state.state).toBe('stale');
    now.tls = { ca, cert, key };
    await eventually(() => expect(member.state.state).toBe('ok'));
  });

  it('takes the password of now', async () => {
    const etcd = await startTestEtcd();
    await etcd.requireUser(USER.user, USER.password, MAY);
    const now = { password: 'of yesterday' };
    const member = await joinEtcd('a', etcd.url, { user: USER.user, password: () => now.password });
    expect(member.state.state).toBe('stale');
    now.password = USER.password;
    await eventually(() => expect(member.state.state).toBe('ok'));
  });

  it('does not mind a user where it wants none', async () => {
    const etcd = await startTestEtcd();
    expect((await joinEtcd('a', etcd.url, USER)).state.state).toBe('ok');
  });

  it('gets a new token for a call when it no longer knows the old one', async () => {
    const etcd = await startTestEtcd();
    await etcd.requireUser(USER.user, USER.password, { type: 'READWRITE', prefix: 'k' });
    const connection = new EtcdConnection(readAddress(etcd.url), USER);
    onTestFinished(() => connection.close());
    await connection.authenticate();
    const put = (value: string) =>
      connection.call('Put', { key: Buffer.from('k'), value: Buffer.from(value), prev_kv: true });
    await put('before');
    await etcd.restart();
    await eventually(async () =>
      expect(Buffer.from((await put('after')).prev_kv?.value ?? []).toString()).toMatch(/before|after/),
    );
  });

  it('is contacted over TLS, by a client with a certificate', async () => {
    const { file, ca, cert, key } = makeCertificates();
    const tls = { certFile: file('server.crt'), keyFile: file('server.key'), clientCaFile: file('ca.crt') };
    const etcd = await startTestEtcd({ tls });
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => {
      process.off('warning', onWarning);
    });
    const first = await joinEtcd('a', etcd.url, { tls: { ca, cert, key } });
    await joinEtcd('b', etcd.url, { tls: { ca, cert, key } });
    await eventually(() => expect([first.state.state, ...memberIds(first)]).toEqual(['ok', 'a', 'b']));
    const withoutCertificate = await joinEtcd('c', etcd.url, { tls: { ca } });
    expect(withoutCertificate.state.state).toBe('stale');
    const withoutAuthority = await joinEtcd('d', etcd.url, { tls: { cert, key } });
    expect(withoutAuthority.state).toMatchObject({
      state: 'stale',
      detail: expect.stringContaining('certificate') as string,
    });
    // An address is no name of a server: Node.js would say so on stderr (DEP0123).
    expect(warnings.map(String)).toEqual([]);
  });

  it('must have a certificate for the address that it is contacted by', async () => {
    const { file, ca } = makeCertificates();
    const etcd = await startTestEtcd({ tls: { certFile: file('server.crt'), keyFile: file('server.key') } });
    const other = await joinEtcd('a', etcd.url.replace('127.0.0.1', '127.0.0.2'), { tls: { ca } });
    expect(other.state).toMatchObject({ state: 'stale', detail: expect.stringContaining('127.0.0.2') as string });
  });

  it('is not reached with an invalid certificate; the node runs all the same', async () => {
    const member = await joinEtcd('a', 'https://127.0.0.1:1', { tls: { ca: 'no PEM', cert: 'no PEM', key: 'no PEM' } });
    expect([member.state.state, ...memberIds(member)]).toEqual(['stale', 'a']);
  });
});
