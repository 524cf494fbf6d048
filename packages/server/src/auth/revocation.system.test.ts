import { appendFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { codeOf } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../grpc/testing/connect.ts';
import { startNode } from '../start-node.ts';
import { startTestNode, testSettings } from '../testing/test-node.ts';
import {
  type Certificate,
  createAuthority,
  issue,
  issueForNode,
  issueUntil,
  revocationList,
} from './testing/certificates.ts';
import { createTlsClient } from './testing/tls-client.ts';

const LIST = '/api/v1/log/list';
const LINE = '2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: text\n';

/** A node that knows its clients by certificates, with a revocation list. */
async function start(revoked: readonly string[] = []) {
  const dir = tempDir();
  const authority = createAuthority(dir);
  const { certFile, keyFile } = issueForNode(authority, dir);
  const [ann, bob] = [issue(authority, dir, 'ann'), issue(authority, dir, 'bob')];
  const clientCrlFile = join(dir, 'revoked.pem');
  const revoke = (certificates: readonly Certificate[]) =>
    writeFileSync(clientCrlFile, revocationList(authority, dir, certificates));
  revoke([ann, bob].filter((_, at) => revoked.includes(['ann', 'bob'][at] ?? '')));
  const node = await startTestNode({
    files: { 'a.log': LINE },
    settings: {
      tls: { certFile, keyFile },
      auth: { clientCaFile: authority.certFile, clientCrlFile, clientRoles: ['CN:*=viewer'] },
    },
  });
  const clientFor = ({ cert, key }: Certificate) => createTlsClient(node.port, { ca: authority.cert, cert, key });
  return {
    ...node,
    dir,
    authority,
    ann,
    bob,
    revoke,
    askAs: clientFor,
    clientCrlFile,
    grpcPort: node.running.node.grpcPort,
  };
}

type Node = Awaited<ReturnType<typeof start>>;

async function call({ grpcPort, authority }: Node, { cert, key }: Certificate): Promise<string> {
  const channel = credentials.createSsl(authority.cert, key, cert);
  return connect(grpcPort, { channel })
    .call('ListLogs', {})
    .then(
      () => 'answered',
      (error: unknown) => codeOf(error),
    );
}

/** What has come of a follow, and whether it was cut. */
async function follow({ port, authority }: Node, { cert, key }: Certificate) {
  const following = { text: '', cut: false };
  const path = '/api/v1/log/follow?src=a.log&back=1';
  const outgoing = request(
    { host: '127.0.0.1', port, path, ca: authority.cert, cert, key, agent: false },
    (response) => {
      response.on('data', (part: Buffer) => {
        following.text += part.toString();
      });
      response.once('error', () => {
        following.cut = true;
      });
    },
  );
  outgoing.on('error', () => {});
  outgoing.end();
  onTestFinished(() => void outgoing.destroy());
  await eventually(() => expect(following.text).toContain('event: record'));
  return following;
}

it('a certificate on the revocation list is refused over HTTP and gRPC, others are not', async () => {
  const node = await start(['bob']);
  expect((await node.askAs(node.ann)(LIST)).status).toBe(200);
  const { status, body } = await node.askAs(node.bob)(LIST);
  expect(status).toBe(401);
  expect(body).toContain('the certificate is not accepted: CERT_REVOKED');
  expect([await call(node, node.ann), await call(node, node.bob)]).toEqual(['answered', 'UNAUTHENTICATED']);
});

it('a certificate that is revoked does not count any more, on connections that stand neither', async () => {
  const node = await start();
  const [asAnn, asBob] = [node.askAs(node.ann), node.askAs(node.bob)];
  for (const send of [asAnn, asBob]) expect((await send(LIST)).status).toBe(200);
  const following = await follow(node, node.bob);
  node.revoke([node.bob]);
  await node.running.reload();
  // Their agents keep connections, which are closed, and TLS sessions.
  await eventually(async () => {
    const { status, body } = await asBob(LIST);
    expect([status, body]).toEqual([401, expect.stringContaining('CERT_REVOKED')]);
  });
  await eventually(async () => expect((await asAnn(LIST)).status).toBe(200));
  await eventually(() => expect(following.cut).toBe(true));
  expect([await call(node, node.ann), await call(node, node.bob)]).toEqual(['answered', 'UNAUTHENTICATED']);
});

it('a list that did not change, or cannot be read, leaves connections as they are', async () => {
  const node = await start(['bob']);
  const following = await follow(node, node.ann);
  await node.running.reload();
  writeFileSync(node.clientCrlFile, 'no list');
  await node.running.reload();
  expect((await node.askAs(node.bob)(LIST)).status).toBe(401);
  appendFileSync(join(node.logDir, 'a.log'), LINE);
  await eventually(() => expect(following.text.split('event: record')).toHaveLength(3));
  expect(following.cut).toBe(false);
});

it('a follow ends with the certificate it was begun with', async () => {
  const node = await start();
  const endMs = Math.ceil(Date.now() / 1000) * 1000 + 4000;
  const short = await follow(node, issueUntil(node.authority, node.dir, 'short', endMs));
  const lasting = await follow(node, node.ann);
  await eventually(() => expect(short.cut).toBe(true));
  expect(Date.now()).toBeGreaterThanOrEqual(endMs);
  appendFileSync(join(node.logDir, 'a.log'), LINE);
  await eventually(() => expect(lasting.text.split('event: record')).toHaveLength(3));
  expect(short.text.split('event: record')).toHaveLength(2);
});

it('a list that cannot be used stops the start, by the name of the setting', async () => {
  const { dir, authority, ann } = await start();
  const { certFile, keyFile } = issueForNode(authority, dir, 'second');
  const starting = (clientCrlFile: string) =>
    startNode({
      settings: testSettings(dir, {
        tls: { certFile, keyFile },
        auth: { clientCaFile: authority.certFile, clientCrlFile, clientRoles: ['CN:a=viewer'] },
      }),
    });
  await expect(starting(join(dir, 'absent'))).rejects.toThrow(
    /^auth\.client-crl-file: .*absent cannot be read: ENOENT/,
  );
  await expect(starting(ann.certFile)).rejects.toThrow(/^auth\.client-crl-file: .* contains no revocation list/);
  const damaged = join(dir, 'damaged.pem');
  writeFileSync(damaged, '-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n');
  await expect(starting(damaged)).rejects.toThrow(/^auth\.client-crl-file: .* contains an invalid revocation list/);
});
