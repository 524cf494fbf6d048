import { credentials } from '@grpc/grpc-js';
import { codeOf } from '@porthole/contract';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { connect } from '../grpc/testing/connect.ts';
import { startNode } from '../start-node.ts';
import { freePorts } from '../testing/free-ports.ts';
import { startTestNode, testSettings } from '../testing/test-node.ts';
import { type Certificate, createAuthority, issue, issueExpired, issueForNode } from './testing/certificates.ts';
import { createTlsClient } from './testing/tls-client.ts';

const LIST = '/api/v1/log/list';

/** A node whose only credentials are client certificates. */
async function startWithCertificates() {
  const dir = tempDir();
  const authority = createAuthority(dir);
  const { certFile, keyFile } = issueForNode(authority, dir);
  const clientRoles = ['CN:ops-*=viewer', 'DNS:*.db.example.org=admin', 'URI:spiffe://prod/*=config'];
  const { running, port } = await startTestNode({
    settings: { tls: { certFile, keyFile }, auth: { clientCaFile: authority.certFile, clientRoles } },
  });
  const clientFor = (certificate?: Certificate) => createTlsClient(port, { ca: authority.cert, ...pair(certificate) });
  return { dir, authority, askAs: clientFor, grpcPort: running.node.grpcPort };
}

function pair(certificate: Certificate | undefined): { cert?: Buffer; key?: Buffer } {
  return certificate ? { cert: certificate.cert, key: certificate.key } : {};
}

/** What a call over gRPC comes to. */
async function call(grpcPort: number, ca: Buffer, certificate?: Certificate): Promise<string> {
  const channel = credentials.createSsl(ca, certificate?.key, certificate?.cert);
  return connect(grpcPort, { channel })
    .call('ListLogs', {})
    .then(
      () => 'answered',
      (error: unknown) => codeOf(error),
    );
}

describe('a node that knows its clients by their certificates', () => {
  it('accepts a valid one, by its name', async () => {
    const { dir, authority, askAs, grpcPort } = await startWithCertificates();
    const byName = issue(authority, dir, 'ops-ann');
    expect((await askAs(byName)(LIST)).status).toBe(200);
    expect((await askAs(byName)('/api/v1/config')).status).toBe(403);
    expect(await call(grpcPort, authority.cert, byName)).toBe('answered');
    const byDns = issue(authority, dir, 'x', { names: 'DNS:db-1.db.example.org' });
    expect((await askAs(byDns)('/api/v1/config')).status).toBe(200);
    const byUri = issue(authority, dir, 'y', { names: 'URI:spiffe://prod/grafana' });
    expect((await askAs(byUri)('/api/v1/config')).status).toBe(200);
    expect((await askAs(byUri)(LIST)).status).toBe(403);
  });

  it('refuses one that has expired or is of another authority, with the reason', async () => {
    const { dir, authority, askAs, grpcPort } = await startWithCertificates();
    const ended = issueExpired(authority, dir, 'ops-late');
    const stranger = issue(createAuthority(dir, 'other-ca'), dir, 'ops-eve');
    const selfSigned = createAuthority(dir, 'ops-self');
    for (const [certificate, reason] of [
      [ended, 'CERT_HAS_EXPIRED'],
      [stranger, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
      [selfSigned, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ] as const) {
      const { status, body } = await askAs(certificate)(LIST);
      expect(status).toBe(401);
      expect(body).toContain(`the certificate is not accepted: ${reason}`);
      expect(await call(grpcPort, authority.cert, certificate)).toBe('UNAUTHENTICATED');
    }
  });

  it('serves only public routes without one', async () => {
    const { authority, askAs, grpcPort } = await startWithCertificates();
    const send = askAs();
    for (const path of ['/health/live', '/health/ready', '/']) expect((await send(path)).status).toBe(200);
    const { status, body } = await send(LIST);
    expect(status).toBe(401);
    expect(body).toContain('this node needs a client certificate of an authority it trusts');
    expect(await call(grpcPort, authority.cert)).toBe('UNAUTHENTICATED');
  });

  it('gives one without a rule for its names no role', async () => {
    const { dir, authority, askAs } = await startWithCertificates();
    const { status, body } = await askAs(issue(authority, dir, 'bob', { names: 'DNS:db.example.org' }))(LIST);
    expect(status).toBe(403);
    expect(body).toContain('with no role');
  });
});

describe('members of a cluster', () => {
  it('ask each other with certificates', async () => {
    const dir = tempDir();
    const authority = createAuthority(dir);
    const ports = await freePorts(2);
    const members = ports.map((port, index) => `n${index + 1}=https://127.0.0.1:${port}`);
    for (const [index, port] of ports.entries()) {
      const { certFile, keyFile } = issueForNode(authority, dir, `n${index + 1}`);
      const caFile = authority.certFile;
      await startTestNode({
        settings: {
          http: { port },
          tls: { certFile, keyFile },
          auth: { clientCaFile: caFile, clientRoles: ['CN:n*=admin', 'CN:ann=viewer'] },
          cluster: { nodeId: `n${index + 1}`, members, certFile, keyFile, caFile },
        },
      });
    }
    const send = createTlsClient(ports[0] ?? 0, { ca: authority.cert, ...pair(issue(authority, dir, 'ann')) });
    const { nodes } = JSON.parse((await send('/api/v1/nodes')).body) as { nodes: { state: string }[] };
    expect(nodes.map(({ state }) => state)).toEqual(['up', 'up']);
    expect((await send('/api/v1/nodes/n2/log/list')).status).toBe(200);
    // A member would show it to this node, but not to the client of this node.
    for (const path of ['/api/v1/nodes/n2/config', '/api/v1/config/settings?nodes=*', '/api/v1/config/diff'])
      expect((await send(path)).status).toBe(403);
  });
});

describe('an authority that cannot be used', () => {
  it('stops the start, by the name of the setting', async () => {
    const dir = tempDir();
    const { certFile, keyFile } = issueForNode(createAuthority(dir), dir);
    const start = (clientCaFile: string) =>
      startNode({
        settings: testSettings(dir, {
          tls: { certFile, keyFile },
          auth: { clientCaFile, clientRoles: ['CN:a=viewer'] },
        }),
      });
    await expect(start(`${dir}/absent`)).rejects.toThrow(/^auth\.client-ca-file: .*absent cannot be read: ENOENT/);
    await expect(start(keyFile)).rejects.toThrow(/^auth\.client-ca-file: .* contains no certificate/);
  });
});
