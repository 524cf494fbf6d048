import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { ClusterConfigDiff, ClusterEnd, ClusterItem, ClusterNodes } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createToken } from '../auth/tokens.ts';
import { openNode } from '../open-node.ts';
import { freePorts } from '../testing/free-ports.ts';
import { requestJson, requestProblem } from '../testing/send-request.ts';
import { startTestNode, type TestNode } from '../testing/test-node.ts';

const line = (second: number, level: string, text: string) =>
  `2026-11-15 05:00:${String(second).padStart(2, '0')}.000\t${level}\ta.go:1\t[A]: ${text}\n`;

/** Nodes that know each other by a list, each with a log of its own. */
async function startCluster(count: number, cluster: { refreshMs?: number } = {}): Promise<TestNode[]> {
  const ports = await freePorts(count);
  const members = ports.map((port, index) => `n${index + 1}=http://127.0.0.1:${port}`);
  return Promise.all(
    ports.map((port, index) =>
      startTestNode({
        files: {
          'a.log':
            line(index + 1, 'INFO', `first of n${index + 1}`) + line(index + 11, 'ERROR', `second of n${index + 1}`),
        },
        settings: {
          http: { port },
          node: { timeZone: 'UTC' },
          // A busy machine must not make them late: they would be merged without their place in time.
          cluster: {
            nodeId: `n${index + 1}`,
            members,
            firstBatchTimeoutMs: 60_000,
            memberTimeoutMs: 60_000,
            ...cluster,
          },
        },
      }),
    ),
  );
}

async function search(port: number, query = ''): Promise<ClusterItem[]> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/log/search?nodes=*&${query}`);
  return (await response.text())
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as ClusterItem);
}

describe('a request that arrives before the start', () => {
  async function openUnstarted() {
    const other = await startTestNode({ settings: { cluster: { nodeId: 'n2' } } });
    const open = await openNode({
      settings: {
        logging: { dir: tempDir() },
        cluster: { nodeId: 'n1', members: [`n2=http://127.0.0.1:${other.port}`] },
      },
    });
    onTestFinished(() => open.close());
    return open;
  }

  it('waits for it', async () => {
    const { components, node } = await openUnstarted();
    const asked = components.cluster.nodes();
    expect(() => components.cluster.member('n2')).toThrow(expect.objectContaining({ code: 'UNREACHABLE' }));
    await components.cluster.start(node, 'http://127.0.0.1:1');
    expect((await asked).nodes.map(({ id }) => id)).toEqual(['n1', 'n2']);
    expect((await components.cluster.member('n2').describe()).capabilities).toContain('logList');
  });

  it('fails if the node is stopped instead', async () => {
    const { components, close } = await openUnstarted();
    const asked = components.cluster.nodes();
    const failure = expect(asked).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await close();
    await failure;
    await expect(components.cluster.nodes()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});

it('a page that is full reports the files of members that could not be read', async () => {
  const nodes = await startCluster(3);
  const older = gzipSync(Array.from({ length: 1000 }, (_, at) => line(0, 'INFO', `older ${at * at}`)).join(''));
  for (const { logDir } of nodes) writeFileSync(join(logDir, 'a.log.1.gz'), older.subarray(0, 60));
  const damaged = ['n1', 'n2', 'n3'].map((node) => ({ node, file: 'a.log.1.gz', code: 'LOG_FILE_CORRUPT' }));
  // A busy machine may take longer than a full page waits.
  await eventually(async () => {
    const items = await search(nodes[0]?.port ?? 0, 'order=oldest&limit=3');
    const end = items.at(-1) as ClusterEnd;
    expect(end).toMatchObject({ reason: 'limit', records: 3, problems: damaged });
    expect(end.members.every(({ isPartial }) => isPartial)).toBe(true);
  });
});

it('members are selected by their labels, and compared by one', async () => {
  const ports = await freePorts(3);
  const members = ports.map((port, index) => `n${index + 1}=http://127.0.0.1:${port}`);
  const zones = ['eu-1', 'eu-2', 'us-1'];
  const [asked] = await Promise.all(
    ports.map((port, index) =>
      startTestNode({
        files: { 'a.log': line(index + 1, 'INFO', `of n${index + 1}`) },
        settings: {
          http: { port, maxStreams: index === 2 ? 64 : 128 },
          node: { labels: [`zone=${zones[index]}`] },
          // A busy machine must not make them late.
          cluster: { nodeId: `n${index + 1}`, members, firstBatchTimeoutMs: 60_000, memberTimeoutMs: 60_000 },
        },
      }),
    ),
  );
  const port = asked?.port ?? 0;
  const nodesOf = (items: ClusterItem[]) => items.flatMap((item) => (item.type === 'record' ? [item.node] : []));
  expect(nodesOf(await search(port, 'label=zone=eu-*&order=oldest'))).toEqual(['n1', 'n2']);
  expect(nodesOf(await search(port, 'label=zone=eu-2&label=zone=us-1&order=oldest'))).toEqual(['n2', 'n3']);
  expect(await requestProblem(port, '/api/v1/log/search?label=zone')).toMatchObject({
    code: 'PARAMETER_INVALID',
  });
  const { nodes } = await requestJson<ClusterNodes>(port, '/api/v1/nodes');
  expect(nodes.map(({ labels }) => labels)).toEqual(zones.map((zone) => ({ zone })));
  const whole = await requestJson<ClusterConfigDiff>(port, '/api/v1/config/diff');
  const isMaxStreams = ({ key }: { key: string }) => key === 'http.max-streams';
  expect(whole.roles[0]?.differences.some(isMaxStreams)).toBe(true);
  const { roles } = await requestJson<ClusterConfigDiff>(port, '/api/v1/config/diff?by=zone');
  expect(roles.map(({ role, label, nodes: ids }) => [role, label, ids])).toEqual([
    ['node', 'zone=eu-1', ['n1']],
    ['node', 'zone=eu-2', ['n2']],
    ['node', 'zone=us-1', ['n3']],
  ]);
  expect(roles.some(({ differences }) => differences.some(isMaxStreams))).toBe(false);
});

describe('three nodes that know each other', () => {
  it('what was recorded of a member that died replaces it, with the time of its last sign of life', async () => {
    const [first, second] = await startCluster(3, { refreshMs: 100 });
    const port = first?.port ?? 0;
    const recorded = join(first?.dir ?? '', 'recorded');
    await eventually(() => expect(readdirSync(join(recorded, 'n2', 'log'))).toHaveLength(1));
    await second?.running.stop();
    const items = await search(port, 'level=error&order=oldest');
    expect(items.flatMap((item) => (item.type === 'record' ? [`${item.node}: ${item.message}`] : []))).toEqual([
      'n1: second of n1',
      'n2: second of n2',
      'n3: second of n3',
    ]);
    const end = items.at(-1) as ClusterEnd;
    expect(end.members.map(({ id, outcome, asOfMs }) => ({ id, outcome, isNow: asOfMs === null }))).toEqual([
      { id: 'n1', outcome: 'ok', isNow: true },
      { id: 'n2', outcome: 'refused', isNow: false },
      { id: 'n3', outcome: 'ok', isNow: true },
    ]);
    expect(end.cursor).toBeNull();
  });
});

describe('nodes with a token of their cluster', () => {
  async function startGuarded(passwords: readonly string[]): Promise<{ ports: number[]; token: string }> {
    const { token, line: stored } = createToken('cluster');
    const dir = tempDir();
    const [tokenFile, tokensFile] = [join(dir, 'token'), join(dir, 'tokens')];
    writeFileSync(tokenFile, token);
    writeFileSync(tokensFile, stored);
    const ports = await freePorts(passwords.length);
    const members = ports.map((port, index) => `n${index + 1}=http://127.0.0.1:${port}`);
    for (const [index, password] of passwords.entries()) {
      const configFile = join(dir, `n${index + 1}.toml`);
      writeFileSync(configFile, `timeout = "${index === 2 ? '10000ms' : '10s'}"\n[etcd]\npassword = "${password}"\n`);
      await startTestNode({
        settings: {
          http: { port: ports[index] ?? 0 },
          service: { configFile },
          auth: { tokenFile: tokensFile },
          cluster: { nodeId: `n${index + 1}`, members, tokenFile },
        },
      });
    }
    return { ports, token };
  }

  it('authenticate with it, and compare their secrets without revealing them', async () => {
    const { ports, token } = await startGuarded(['hush-one', 'hush-one', 'hush-two']);
    const headers = { authorization: `Bearer ${token}` };
    const path = '/api/v1/config/diff';
    expect((await requestProblem(ports[0] ?? 0, path)).status).toBe(401);
    const fetchDiff = () => requestJson<ClusterConfigDiff>(ports[0] ?? 0, path, { headers });
    // Nodes are compared with those of their role, once that is known.
    await eventually(async () => expect((await fetchDiff()).roles).toHaveLength(1));
    const diff = await fetchDiff();
    expect(JSON.stringify(diff)).not.toContain('hush');
    expect(diff.members.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    const [role] = diff.roles;
    const byKey = new Map(role?.differences.map((difference) => [difference.key, difference]));
    expect(byKey.get('etcd.password')).toMatchObject({ secret: true });
    expect(byKey.get('etcd.password')?.values.map(({ nodes, isMajority }) => ({ nodes, isMajority }))).toEqual([
      { nodes: ['n1', 'n2'], isMajority: true },
      { nodes: ['n3'], isMajority: false },
    ]);
    expect(byKey.get('timeout')?.values.find(({ nodes }) => nodes.includes('n3'))).toMatchObject({
      isSameMeaning: true,
    });
  });

  it('refuse cluster requests of a member: no loops', async () => {
    const { ports, token } = await startGuarded(['a', 'a']);
    const headers = { authorization: `Bearer ${token}`, 'porthole-via': 'n2' };
    const problem = await requestProblem(ports[0] ?? 0, '/api/v1/nodes', { headers });
    expect(problem).toMatchObject({ status: 400, code: 'REQUEST_LOOP' });
  });
});

describe('a node that is alone', () => {
  it('is a cluster of one', async () => {
    const { port } = await startTestNode({
      files: { 'a.log': line(1, 'INFO', 'alone') },
      settings: { cluster: { nodeId: 'me' } },
    });
    const { nodes, membership } = await requestJson<ClusterNodes>(port, '/api/v1/nodes');
    expect(nodes.map(({ id, state, isSelf }) => ({ id, state, isSelf }))).toEqual([
      { id: 'me', state: 'up', isSelf: true },
    ]);
    expect(membership.kind).toBe('alone');
    expect((await search(port)).map(({ type }) => type)).toEqual(['record', 'end']);
  });
});
