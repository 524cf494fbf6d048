import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { FakeLindb } from '@porthole/cluster/testing';
import type { ClusterConfigDiff, ClusterTop } from '@porthole/contract';
import { eventually, scaled } from '@porthole/logs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createToken } from '../auth/tokens.ts';
import { freePorts } from '../testing/free-ports.ts';
import { requestJson, sendRequest } from '../testing/send-request.ts';
import { startTestNode, type TestNode, tempDir } from '../testing/test-node.ts';

/** Members with a log each; others fail in different ways. */
const NODES = 7;

const line = (ms: number, level: string, text: string) =>
  `2026-11-15 05:00:${(ms / 1000).toFixed(3).padStart(6, '0')}\t${level}\ta.go:${ms % 3}\t[A]: ${text}\n`;

function logText(node: number): string {
  return Array.from({ length: 40 }, (_, at) => {
    return line(at * 100 + node * 7, at % 5 === 0 ? 'ERROR' : 'INFO', `text ${at % 4} shard=${node} cost=${at}ms`);
  }).join('');
}

interface Cluster {
  helpers: TestNode[];
  /** It asks through helpers. */
  tree: number;
  /** It asks directly. */
  direct: number;
}

interface ClusterOptions {
  /** Settings of the two nodes that are asked. */
  asking?: object;
  /** Whether one of the members takes connections and never responds. */
  hasSilent?: boolean;
}

async function startCluster({ asking = {}, hasSilent = false }: ClusterOptions = {}): Promise<Cluster> {
  const [refusing, ...ports] = await freePorts(NODES + 1);
  const silent = createServer((socket) => socket.on('error', () => {}).resume());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const lindb = await FakeLindb.start({ 'a.log': line(50, 'WARN', 'of a LinDB node') });
  const members = [
    ...ports.map((port, index) => `n${index}=http://127.0.0.1:${port}`),
    ...(hasSilent ? [`x-silent=http://127.0.0.1:${(silent.address() as { port: number }).port}`] : []),
    `x-refusing=http://127.0.0.1:${refusing}`,
    `x-lindb=${lindb.url}`,
  ];
  const start = (nodeId: string, port: number, cluster: object = {}) =>
    startTestNode({
      files: { 'a.log': logText(port) },
      settings: {
        http: { port },
        node: { timeZone: 'UTC' },
        cluster: { nodeId, members, refreshMs: 86_400_000, memberTimeoutMs: 30_000, ...cluster },
      },
    });
  const helpers = await Promise.all(ports.map((port, index) => start(`n${index}`, port)));
  const tree = await start('y-asked', 0, { treeFrom: 3, groupSize: 5, ...asking });
  const direct = await start('y-asked', 0, { treeFrom: 0, ...asking });
  return { helpers, tree: tree.port, direct: direct.port };
}

/** What is not the same twice. */
function comparable(text: string): unknown {
  const timings = ['elapsedMs', 'uncertaintyMs', 'sinceMs', 'asOfMs', 'cursor'];
  // A page that is full has the bytes of the members whose last line had arrived by then.
  if (text.includes('"reason":"limit"')) timings.push('scannedBytes');
  const read = (line: string): unknown => JSON.parse(line, (key, each) => (timings.includes(key) ? 0 : each));
  return text.trim().split('\n').map(read);
}

/** How many groups these nodes have asked. */
async function groupsAsked(helpers: readonly TestNode[]): Promise<number> {
  const bodies = await Promise.all(helpers.map(({ port }) => sendRequest(port, '/metrics')));
  const lines = bodies
    .flatMap(({ body }) => body.toString().split('\n'))
    .filter((text) => text.includes('clusterGroup'));
  const counts = lines.filter((text) => text.includes('requests_total'));
  return counts.reduce((sum, text) => sum + Number(text.split(' ').at(-1)), 0);
}

describe('a question through helpers', () => {
  it('has the same response as a direct one', async () => {
    const { helpers, tree, direct } = await startCluster();
    // Until the roles are known, configurations are compared in other groups.
    for (const port of [tree, direct])
      await eventually(async () => {
        const { roles } = await requestJson<ClusterConfigDiff>(port, '/api/v1/cluster/config/diff?nodes=n*');
        expect(roles.map(({ role }) => role)).toEqual(['node']);
      });
    let before = await groupsAsked(helpers);
    for (const path of [
      'log/files?',
      'config?',
      'config/diff?',
      'log/histogram?buckets=10&',
      'log/histogram?from=2026-11-15T05:00:00Z&to=2026-11-15T05:00:03Z&level=error&buckets=5&',
      'log/digest?limit=5&',
      'log/fields?',
      'log/top?by=shard&limit=4&',
      'log/top?by=shard&buckets=4&',
      'log/search?limit=50&order=oldest&',
      'log/search?limit=500&order=newest&query=level%3Derror&',
      'log/search?limit=50&family=none.log&',
      'log/moment?time=2026-11-15T05:00:01Z&',
    ]) {
      const url = `/api/v1/cluster/${path}nodes=n*&nodes=x-lindb&nodes=x-refusing`;
      const responses = await Promise.all([sendRequest(tree, url), sendRequest(direct, url)]);
      expect(
        responses.map(({ status }) => status),
        path,
      ).toEqual([200, 200]);
      const [byTree, directly] = responses.map(({ body }) => comparable(body.toString()));
      expect(byTree, path).toEqual(directly);
      const asked = await groupsAsked(helpers);
      expect(asked, path).toBeGreaterThan(before);
      before = asked;
    }
  });

  it('reports a silent member as a direct one does', async () => {
    const { tree, direct } = await startCluster({ hasSilent: true, asking: { memberTimeoutMs: scaled(3000) } });
    const outcomes = await Promise.all(
      [tree, direct].map(async (port) => {
        const { members } = await requestJson<ClusterTop>(port, '/api/v1/cluster/log/top?by=source');
        return members.filter(({ id }) => id.startsWith('x-')).map(({ id, outcome }) => `${id} ${outcome}`);
      }),
    );
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(outcomes[0]).toContain('x-silent timeout');
  });

  it('is passed on once: its depth is bounded', async () => {
    const { port: member } = await startTestNode();
    const settings = { cluster: { nodeId: 'n0', members: [`n1=http://127.0.0.1:${member}`] } };
    const { port } = await startTestNode({ settings });
    const body = JSON.stringify({ op: 'relay', requests: [{ member: 'n1', target: '/api/v1/log/list' }] });
    const send = (headers: Record<string, string>, text = body) =>
      sendRequest(port, '/api/v1/cluster/group', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: text,
      });
    const asHelper = { 'porthole-via': 'y', 'porthole-depth': '1' };
    expect((await send(asHelper)).status).toBe(200);
    for (const headers of [{}, { 'porthole-via': 'y' }, { ...asHelper, 'porthole-depth': '2' }]) {
      const { status, body: problem } = await send(headers as Record<string, string>);
      expect([status, JSON.parse(problem.toString()).code]).toEqual([400, 'REQUEST_LOOP']);
    }
    for (const target of [
      '/api/v1/cluster/nodes',
      '/api/v1/cluster/group',
      '/metrics',
      'http://x/api/v1/config',
      '/api/v1/log/raw',
    ]) {
      const { status, body: problem } = await send(
        asHelper,
        JSON.stringify({ op: 'relay', requests: [{ member: 'n1', target }] }),
      );
      expect([target, status, JSON.parse(problem.toString()).code]).toEqual([target, 400, 'PARAMETER_INVALID']);
    }
    for (const text of ['', '[]', '{"op":"relay"}', '{"op":"relay","requests":[7]}'])
      expect((await send(asHelper, text)).status).toBe(400);
  });

  it('needs the role of what is asked, at a helper as anywhere', async () => {
    const dir = tempDir();
    const tokensFile = join(dir, 'tokens');
    const viewer = createToken('viewer', ['viewer']);
    const configReader = createToken('reader', ['config']);
    writeFileSync(tokensFile, `${viewer.line}\n${configReader.line}\n`);
    const [port = 0] = await freePorts(1);
    const { port: member } = await startTestNode();
    await startTestNode({
      settings: {
        http: { port },
        auth: { tokenFile: tokensFile },
        cluster: { nodeId: 'helper', members: [`m=http://127.0.0.1:${member}`] },
      },
    });
    const send = (token: string, target: string) =>
      sendRequest(port, '/api/v1/cluster/group', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'porthole-via': 'y',
          'porthole-depth': '1',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({ op: 'relay', requests: [{ member: 'm', target }] }),
      });
    expect((await send(viewer.token, '/api/v1/log/list')).status).toBe(200);
    expect((await send(viewer.token, '/api/v1/config')).status).toBe(403);
    expect((await send(configReader.token, '/api/v1/log/list')).status).toBe(403);
    expect((await send('ph_unknown', '/api/v1/log/list')).status).toBe(401);
  });
});
