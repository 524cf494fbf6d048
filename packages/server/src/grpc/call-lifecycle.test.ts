import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials, type ServiceError, status } from '@grpc/grpc-js';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { createToken } from '../auth/tokens.ts';
import { sendRequest } from '../testing/send-request.ts';
import { stopClock } from '../testing/stop-clock.ts';
import { startTestNode } from '../testing/test-node.ts';
import { connect, connectNode } from './testing/connect.ts';
import { checkHealth, reflect } from './testing/standard-services.ts';

const { token, line } = createToken('ann');

function tokenFile(): string {
  const path = join(tempDir(), 'tokens');
  writeFileSync(path, `${line}\n`);
  return path;
}

/** The status a call fails with, and what it says beside it. */
async function readFailure(pending: Promise<unknown>): Promise<{ status: string; details: string; metadata: object }> {
  const error = await pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const { cause = error } = error as { cause?: unknown };
  const { code, details, metadata } = cause as ServiceError;
  const { 'porthole-code': portholeCode, 'retry-after': retryAfter } = metadata.getMap();
  return { status: status[code], details, metadata: { portholeCode, retryAfter } };
}

describe('a node with tokens', () => {
  it('refuses a missing and a wrong token, for unary calls and streams alike', async () => {
    const { running } = await startTestNode({ settings: { auth: { tokenFile: tokenFile() } } });
    const { grpcPort } = running.node;
    const portholeCode = 'UNAUTHENTICATED';
    for (const [given, details] of [
      [{}, 'this node needs a token: send the metadata "authorization: Bearer TOKEN"'],
      [{ token: 'wrong' }, 'the token is not known to this node'],
    ] as const) {
      const connection = connect(grpcPort, given);
      const refused = { status: 'UNAUTHENTICATED', details, metadata: { portholeCode, retryAfter: undefined } };
      expect(await readFailure(connection.call('Describe', {}))).toEqual(refused);
      expect(await readFailure(connection.stream('ViewLog', { file: 'a.log' }).next())).toEqual(refused);
    }
  });

  it('serves reflection only with a token, and health to everyone', async () => {
    const { running } = await startTestNode({ settings: { auth: { tokenFile: tokenFile() } } });
    const { grpcPort } = running.node;
    expect(await readFailure(reflect(grpcPort, { listServices: '' }))).toMatchObject({ status: 'UNAUTHENTICATED' });
    expect(await reflect(grpcPort, { listServices: '' }, token)).toHaveProperty('listServicesResponse');
    expect(await checkHealth(grpcPort)).toBe('SERVING');
  });

  it('does so over TLS as well', async () => {
    const [certFile, keyFile] = [join(tempDir(), 'node.crt'), join(tempDir(), 'node.key')];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile];
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    // programs: openssl
    execFileSync('openssl', ['req', '-x509', '-days', '2', ...key, ...names, '-out', certFile], { stdio: 'ignore' });
    const text = 'a line of a log\n'.repeat(200_000);
    const settings = { tls: { certFile, keyFile }, auth: { tokenFile: tokenFile() } };
    const { running } = await startTestNode({ files: { 'a.log': text }, settings });
    const channel = credentials.createSsl(readFileSync(certFile));
    const node = connectNode(running.node.grpcPort, { token, channel });
    let read = '';
    const { chunks } = await node.viewLog({ file: 'a.log', sizeBytes: text.length });
    for await (const chunk of chunks) read += Buffer.from(chunk).toString();
    expect(read === text).toBe(true);
    const plain = connect(running.node.grpcPort, { token });
    expect(await readFailure(plain.call('Describe', {}))).toMatchObject({ status: 'UNAVAILABLE' });
  });
});

describe('the limits of a node', () => {
  it('on requests a second count what comes over HTTP and gRPC together', async () => {
    const { running, port } = await startTestNode({ settings: { http: { maxRequestsPerSecond: 2 } } });
    const connection = connect(running.node.grpcPort);
    stopClock();
    await connection.call('Describe', {});
    await sendRequest(port, '/health/live');
    expect(await readFailure(connection.call('Describe', {}))).toEqual({
      status: 'RESOURCE_EXHAUSTED',
      details: 'more than 2 requests a second from one address (IPv6: one /64); see http.max-requests-per-second',
      metadata: { portholeCode: 'RATE_LIMITED', retryAfter: '1' },
    });
  });

  it('on the size of a request name the setting', async () => {
    const { running } = await startTestNode({ settings: { grpc: { maxRequestBytes: 2048 } } });
    const connection = connect(running.node.grpcPort);
    await expect(connection.call('StatLog', { file: 'x'.repeat(2000) })).rejects.toMatchObject({
      code: 'FILE_NAME_INVALID',
    });
    const refused = {
      status: 'RESOURCE_EXHAUSTED',
      details: 'the request has 3003 bytes, the limit set by grpc.max-request-bytes is 2048',
    };
    expect(await readFailure(connection.call('StatLog', { file: 'x'.repeat(3000) }))).toMatchObject(refused);
    const stream = connection.stream('ViewLog', { file: 'x'.repeat(3000) });
    expect(await readFailure(stream.next())).toMatchObject(refused);
    const huge = connection.call('StatLog', { file: 'x'.repeat(8 * 1024 ** 2) });
    expect(await readFailure(huge)).toMatchObject({ status: 'RESOURCE_EXHAUSTED' });
  });
});

describe('what is counted', () => {
  it('is every call, by method and status', async () => {
    const { running, port } = await startTestNode({ files: { 'a.log': 'text\n' } });
    const connection = connect(running.node.grpcPort);
    await connection.call('Describe', {});
    await connection.call('StatLog', { file: 'absent' }).catch(() => {});
    for await (const _message of connection.stream('ViewLog', { file: 'a.log' }));
    const follow = connection.stream('FollowLogs', { cursor: '', raw: false, fields: [] });
    await follow.next();
    await follow.return(undefined);
    await checkHealth(running.node.grpcPort);
    await eventually(async () => {
      const metrics = (await sendRequest(port, '/metrics')).body.toString();
      for (const [method, result] of [
        ['NodeStateService/Describe', 'OK'],
        ['NodeStateService/StatLog', 'NOT_FOUND'],
        ['NodeStateService/ViewLog', 'OK'],
        ['NodeStateService/FollowLogs', 'CANCELLED'],
        ['Health/Check', 'OK'],
      ])
        expect(metrics).toContain(`porthole_grpc_calls_total{method="${method}",status="${result}"} 1\n`);
      expect(metrics).toContain('porthole_grpc_call_duration_seconds_count{method="NodeStateService/Describe"} 1\n');
      expect(metrics).toContain('porthole_open_streams 0\n');
    });
  });
});
