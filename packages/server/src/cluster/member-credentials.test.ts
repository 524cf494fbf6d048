import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { startOddServer } from '@porthole/client/testing';
import { FakeLindb } from '@porthole/cluster/testing';
import type { ClusterNodes } from '@porthole/contract';
import { pathOfAll } from '@porthole/contract/testing';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '../auth/testing/certificates.ts';
import type { PartialSettings } from '../settings/settings.ts';
import { requestJson, requestProblem, sendRequest } from '../testing/send-request.ts';
import { startTestNode } from '../testing/test-node.ts';

const TOKEN = 'ph_the-token-of-the-cluster';
const NODE = { hostIp: '', hostName: 'm', grpcPort: 0, httpPort: 1, version: '0.1.0', onlineTime: 1 };

/** A member that wants this token, and writes down what it was shown. */
async function startMember({ hasHealth = true } = {}) {
  const shown: (string | undefined)[] = [];
  const state = { token: TOKEN };
  const server = await startOddServer((request: IncomingMessage, response: ServerResponse) => {
    const { url = '', headers } = request;
    shown.push(headers.authorization);
    const reply = (status: number, type: string, value: unknown) =>
      response.writeHead(status, { 'content-type': type }).end(JSON.stringify(value));
    if (url === '/health/live' && hasHealth) return reply(200, 'application/json', { status: 'ok' });
    if (url === '/health/live') return reply(404, 'text/plain', 'no');
    if (headers.authorization !== `Bearer ${state.token}`)
      return reply(401, 'application/problem+json', { code: 'UNAUTHENTICATED', detail: 'who are you' });
    if (url === '/api/v1/node') return reply(200, 'application/json', { node: NODE, clockMs: Date.now() });
    if (url === '/api/v1/log/list') return reply(200, 'application/json', []);
    return reply(404, 'application/problem+json', { code: 'ROUTE_NOT_FOUND', detail: 'no' });
  });
  return { ...server, shown, state };
}

async function startNode(members: string[], cluster: PartialSettings['cluster'] = {}) {
  const dir = tempDir();
  const tokenFile = join(dir, 'token');
  writeFileSync(tokenFile, `${TOKEN}\n`);
  const node = await startTestNode({ settings: { cluster: { nodeId: 'asking', members, tokenFile, ...cluster } } });
  return { ...node, tokenFile };
}

async function findReport(port: number, id: string) {
  const { nodes } = await requestJson<ClusterNodes>(port, '/api/v1/nodes');
  return nodes.find((node) => node.id === id);
}

describe('the token of the cluster', () => {
  it.each([true, false])(
    'is sent to a Porthole node that wants it (its health check is reachable: %s)',
    async (hasHealth) => {
      const member = await startMember({ hasHealth });
      const { port } = await startNode([`m=${member.url}`]);
      expect(await requestJson(port, '/api/v1/nodes/m/log/list')).toEqual([]);
      expect(member.shown[0]).toBeUndefined();
      expect(member.shown.at(-1)).toBe(`Bearer ${TOKEN}`);
    },
  );

  it('is never sent to a LinDB node', async () => {
    const lindb = await FakeLindb.start({ 'a.log': 'first\nsecond\n' });
    const { port } = await startNode([`lindb=${lindb.url}`], { refreshMs: 100 });
    await eventually(async () => expect((await findReport(port, 'lindb'))?.state).toBe('up'));
    for (const path of ['nodes/lindb/log/list', 'nodes/lindb/log/view?file=a.log', 'log/search', 'log/histogram'])
      expect((await sendRequest(port, pathOfAll(path))).status).toBe(200);
    expect(lindb.authorizations).toEqual([]);
  });

  it('is not sent without TLS where this node uses TLS, and the report names the setting', async () => {
    const member = await startMember();
    const { certFile: caFile } = createAuthority(tempDir());
    const { port } = await startNode([`m=${member.url}`], { caFile });
    const node = await findReport(port, 'm');
    expect(node?.state).toBe('unreachable');
    expect(node?.report).toMatchObject({ outcome: 'auth', detail: expect.stringContaining('(cluster.ca-file)') });
    const problem = await requestProblem(port, '/api/v1/nodes/m/log/list');
    expect(problem).toMatchObject({ status: 502, detail: expect.stringContaining('register it with https') });
    expect(member.shown.filter((shown) => shown !== undefined)).toEqual([]);
  });

  it('is taken again from its file when that changes', async () => {
    const member = await startMember();
    const { port, tokenFile, running } = await startNode([`m=${member.url}`]);
    expect(await requestJson(port, '/api/v1/nodes/m/log/list')).toEqual([]);
    member.state.token = 'ph_another';
    expect((await requestProblem(port, '/api/v1/nodes/m/log/list')).status).toBe(502);
    writeFileSync(tokenFile, 'ph_another\n');
    await running.reload();
    expect(await requestJson(port, '/api/v1/nodes/m/log/list')).toEqual([]);
    writeFileSync(tokenFile, 'two words\n');
    await running.reload();
    expect(await requestJson(port, '/api/v1/nodes/m/log/list')).toEqual([]);
  });
});

describe('members that are not contacted', () => {
  it('those without https under cluster.https-only: listed as refused, with the setting', async () => {
    const member = await startMember();
    const { port } = await startNode([`m=${member.url}`], { httpsOnly: true });
    const node = await findReport(port, 'm');
    expect(node?.state).toBe('unreachable');
    expect(node?.report).toMatchObject({ outcome: 'refused', detail: expect.stringContaining('cluster.https-only') });
    expect(await requestProblem(port, '/api/v1/nodes/m/log/list')).toMatchObject({
      status: 502,
      code: 'MEMBER_REFUSED',
    });
    expect(member.requests).toEqual([]);
  });

  it.each(['169.254.169.254', '2852039166', '[::ffff:169.254.169.254]', '0.0.0.0', '[fe80::1]', '224.0.0.1'])(
    'those at %s',
    async (host) => {
      const { port } = await startNode([`m=http://${host}:8080`]);
      const node = await findReport(port, 'm');
      expect(node?.report).toMatchObject({
        outcome: 'refused',
        detail: expect.stringContaining('cluster.member-networks'),
      });
    },
  );

  it('those outside of cluster.member-networks, also where only their name leads there', async () => {
    const member = await startMember();
    const members = [`address=${member.url}`, `name=http://localhost:${member.port}`];
    const { port } = await startNode(members, { memberNetworks: ['10.0.0.0/8'] });
    for (const id of ['address', 'name']) {
      const node = await findReport(port, id);
      expect(node?.report).toMatchObject({
        outcome: 'refused',
        detail: expect.stringContaining('not in a network of cluster.member-networks'),
      });
    }
    expect(member.requests).toEqual([]);
    const allowed = await startNode(members, { memberNetworks: ['127.0.0.0/8', '::1/128'] });
    for (const id of ['address', 'name']) expect((await findReport(allowed.port, id))?.state).toBe('up');
  });
});
