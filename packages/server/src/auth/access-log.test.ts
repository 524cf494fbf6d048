import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { eventually } from '@porthole/logs/testing';
import { describe, expect, it } from 'vitest';
import { connect } from '../grpc/testing/connect.ts';
import { requestJson, requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode, type TestNode } from '../testing/test-node.ts';
import { type GuardedNode, startGuardedNode } from './testing/guarded-node.ts';
import { signJwt } from './testing/jwt-maker.ts';
import { createTlsClient, type SendTlsRequest } from './testing/tls-client.ts';

const FILES = { 'a.log': '2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: text\n', 'audit.log': 'x\n' };

function readAccessLog({ dir }: TestNode): string {
  const path = join(dir, 'own/access.log');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** The entries of the access log, once there are that many. */
async function readEntries(node: TestNode, count: number): Promise<Record<string, unknown>[]> {
  await eventually(() => expect(readAccessLog(node).split('\n').length - 1).toBeGreaterThanOrEqual(count));
  return readAccessLog(node)
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, level, , message, context = '{}'] = line.split('\t');
      return { level, message, ...(JSON.parse(context) as object) };
    });
}

function as(node: GuardedNode, token: string): (path: string) => ReturnType<SendTlsRequest> {
  const send = createTlsClient(node.port, { ca: node.authority.cert });
  return (path) => send(path, { headers: { authorization: `Bearer ${token}` } });
}

describe('the access log', () => {
  it('contains refusals, configurations, downloads and denied files, and nothing else', async () => {
    const node = await startGuardedNode({ files: FILES, settings: { auth: { deniedFiles: ['audit.log'] } } });
    const [viewer, admin] = [
      as(node, node.tokens.viewer ?? ''),
      as(node, await signJwt(node.signer, { groups: ['admin'] })),
    ];
    await viewer('/api/v1/log/view?file=a.log');
    await viewer('/api/v1/config');
    await as(node, 'wrong-token')('/api/v1/log/list?token=abc');
    await admin('/api/v1/config/settings');
    await viewer('/api/v1/log/raw?file=a.log');
    await viewer('/api/v1/log/view?file=audit.log&size=10');
    const common = { address: '127.0.0.1', transport: 'http' };
    const entries = await readEntries(node, 5);
    expect(entries).toMatchObject([
      { ...common, level: 'WARN', who: 'viewer', kind: 'token', operation: 'config', status: 403, code: 'FORBIDDEN' },
      { ...common, level: 'WARN', operation: 'logList', status: 401, code: 'UNAUTHENTICATED' },
      { ...common, level: 'INFO', who: 'ann', kind: 'jwt', operation: 'settings', status: 200 },
      { ...common, who: 'viewer', operation: 'logRaw', file: 'a.log', status: 200, bytes: FILES['a.log'].length },
      { ...common, operation: 'logView', file: 'audit.log', query: { size: '10' }, code: 'LOG_FILE_NOT_FOUND' },
    ]);
    expect(entries).toHaveLength(5);
    expect(entries[1]).not.toHaveProperty('who');
    for (const secret of ['wrong-token', 'abc', node.tokens.viewer ?? '-'])
      expect(readAccessLog(node)).not.toContain(secret);
  });

  it('contains the trace of a request, and nothing that only looks like one', async () => {
    const node = await startTestNode({ files: FILES, settings: { logging: { access: 'all' } } });
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const hostile = `${traceparent.slice(0, -1)}\u00e9<script>`;
    for (const header of [
      traceparent,
      hostile,
      `${traceparent}-x`,
      traceparent.toUpperCase(),
      `01${traceparent.slice(2)}-x`,
    ])
      await sendRequest(node.port, '/api/v1/log/list', { headers: { traceparent: header } });
    const entries = await readEntries(node, 5);
    expect(entries.map((entry) => entry.traceparent)).toEqual([
      traceparent,
      ...[undefined, undefined, undefined],
      `01${traceparent.slice(2)}`,
    ]);
    expect(readAccessLog(node)).not.toMatch(/script|-x/);
  });

  it('contains the same for gRPC', async () => {
    const node = await startGuardedNode({ files: FILES, settings: { logging: { access: 'all' } } });
    const channel = credentials.createSsl(node.authority.cert);
    const viewer = connect(node.running.node.grpcPort, { channel, token: node.tokens.viewer ?? '' });
    await viewer.call('GetConfig', {}).catch(() => {});
    for await (const _message of viewer.stream('ReadLog', { file: 'a.log', start: 0, etag: '' }));
    for await (const _message of viewer.stream('SearchLogs', { terms: [], limit: 10 } as never));
    const common = { who: 'viewer', kind: 'token', address: '127.0.0.1', transport: 'grpc' };
    const entries = (await readEntries(node, 3)).map((entry) => ({ ...entry }));
    expect(entries).toMatchObject([
      { ...common, operation: 'NodeStateService/GetConfig', status: 'PERMISSION_DENIED', code: 'FORBIDDEN' },
      { ...common, operation: 'NodeStateService/ReadLog', file: 'a.log', status: 'OK', bytes: FILES['a.log'].length },
      { ...common, operation: 'NodeStateService/SearchLogs', status: 'OK', records: 1 },
    ]);
  });

  it('contains every request in mode "all", with its parameters and the size of the response', async () => {
    const node = await startTestNode({ files: FILES, settings: { logging: { access: 'all' } } });
    await sendRequest(node.port, '/api/v1/log/search?q=text&q=a&level=&nonsense=1&src==a.log');
    await sendRequest(node.port, '/health/live', { headers: { 'porthole-via': 'n2' } });
    const [search, live] = await readEntries(node, 2);
    expect(search).toMatchObject({
      who: 'anonymous',
      operation: 'logSearch',
      query: { q: ['text', 'a'], src: '=a.log' },
    });
    expect(search).toMatchObject({ records: 1, status: 200 });
    expect(live).toMatchObject({ operation: 'live', via: 'n2', bytes: 15 });
    expect(readAccessLog(node)).not.toContain('nonsense');
  });

  it('is not created while there is nothing to log', async () => {
    const node = await startTestNode({ files: FILES });
    await sendRequest(node.port, '/api/v1/config');
    await sendRequest(node.port, '/api/v1/log/raw?file=a.log');
    await node.running.stop();
    expect(readAccessLog(node)).toBe('');
  });

  it('is off when it is switched off', async () => {
    const node = await startGuardedNode({ settings: { logging: { access: 'off' } } });
    await as(node, 'wrong')('/api/v1/config');
    await node.running.stop();
    expect(readAccessLog(node)).toBe('');
  });

  it('cannot be written into from outside', async () => {
    const node = await startGuardedNode({ files: FILES, settings: { logging: { access: 'all' } } });
    const forged = '2026-11-15 06:00:00.000\tINFO\tx:1\t[access]: answered\t{"who":"root"}';
    const attack = encodeURIComponent(`a\r\n${forged}\u2028\u001b[2J\u202e"}`);
    const name = `eve\n${forged}`;
    await as(node, await signJwt(node.signer, { sub: name, groups: ['viewer'] }))(`/api/v1/log/view?file=${attack}`);
    const entries = await readEntries(node, 1);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ who: name, operation: 'logView', code: 'LOG_FILE_NOT_FOUND' });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the point
    expect(readAccessLog(node).replace(/[\t\n]/g, '')).not.toMatch(/[\u0000-\u001f\u007f\u2028\u202e]/);
  });

  it('is not shown by a node that shows its own logs', async () => {
    const node = await startTestNode({ settings: { service: { logDir: '' }, logging: { access: 'all' } } });
    await sendRequest(node.port, '/api/v1/node');
    await readEntries(node, 1);
    const names = (await requestJson<{ name: string }[]>(node.port, '/api/v1/log/list')).map(({ name }) => name);
    expect(names).toEqual(['porthole.log']);
    expect(await requestProblem(node.port, '/api/v1/log/view?file=access.log')).toMatchObject({ status: 404 });
    const found = (await sendRequest(node.port, '/api/v1/log/search?q=answered')).body.toString();
    expect(found).not.toContain('access.log');
  });
});

describe('failed attempts', () => {
  it('are limited per address; clients with valid credentials are still accepted', async () => {
    const settings = { auth: { maxFailuresPerMinute: 3 } };
    const node = await startGuardedNode({ files: FILES, settings });
    const wrong = as(node, 'wrong');
    const statuses: number[] = [];
    for (let count = 0; count < 6; count++) statuses.push((await wrong('/api/v1/log/list')).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
    const nobody = await createTlsClient(node.port, { ca: node.authority.cert })('/api/v1/log/list');
    expect(nobody.status).toBe(429);
    expect(Number(nobody.headers['retry-after'])).toBeGreaterThan(30);
    expect(nobody.body).toContain('auth.max-failures-per-minute');
    const channel = credentials.createSsl(node.authority.cert);
    await expect(connect(node.running.node.grpcPort, { channel }).call('ListLogs', {})).rejects.toMatchObject({
      code: 'RATE_LIMITED',
    });
    expect((await as(node, node.tokens.viewer ?? '')('/api/v1/log/list')).status).toBe(200);
    expect((await as(node, await signJwt(node.signer, { groups: ['viewer'] }))('/api/v1/log/list')).status).toBe(200);
    expect((await createTlsClient(node.port, { ca: node.authority.cert })('/health/live')).status).toBe(200);
    // Only one of the requests beyond the limit is logged: a flood must not push out the rest.
    const entries = await readEntries(node, 4);
    expect(entries.map(({ code }) => code)).toEqual([...Array(3).fill('UNAUTHENTICATED'), 'RATE_LIMITED']);
    const metrics = (await as(node, node.tokens.none ?? '')('/metrics')).body;
    expect(metrics).toMatch(/^porthole_auth_failures_total 8$/m);
  });
});
