import { Cable, startTestEtcd } from '@porthole/cluster/testing';
import type { ClusterEnd, ClusterNodes, Readiness } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../testing/free-ports.ts';
import { requestJson, sendRequest } from '../testing/send-request.ts';
import { startTestNode, startWithSharedThreads, testSettings } from '../testing/test-node.ts';

const line = (text: string) => `2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: ${text}\n`;

function clusterSettings(nodeId: string, etcd: string) {
  return { nodeId, etcd: [etcd], leaseMs: 2000, refreshMs: 300, memberTimeoutMs: 10_000, firstBatchTimeoutMs: 5000 };
}

async function search(port: number) {
  const { body } = await sendRequest(port, '/api/v1/log/search?nodes=*');
  const items = body
    .toString()
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  const { members, membership } = items.at(-1) as ClusterEnd;
  const messages = items.slice(0, -1).map(({ message }) => message as string);
  return {
    messages: messages.toSorted(),
    reports: Object.fromEntries(members.map((each) => [each.id, each])),
    membership,
  };
}

async function stateOf(port: number, id: string) {
  const { nodes } = await requestJson<ClusterNodes>(port, '/api/v1/nodes');
  return nodes.find((node) => node.id === id)?.state;
}

it('a member that has lost only its registry is asked as long as it responds, and shown as unregistered', async () => {
  const etcd = await startTestEtcd();
  const cable = await Cable.to(etcd.port);
  const a = await startTestNode({
    files: { 'a.log': line('of a') },
    settings: { cluster: clusterSettings('a', etcd.url) },
  });
  const b = await startTestNode({
    files: { 'b.log': line('of b') },
    settings: { cluster: clusterSettings('b', cable.url) },
  });
  const both = ['of a', 'of b'];
  await eventually(async () => expect(await search(a.port)).toMatchObject({ messages: both }));
  cable.pull();
  await eventually(async () => expect(await stateOf(a.port, 'b')).toBe('unregistered'));
  for (let times = 0; times < 3; times++)
    expect(await search(a.port)).toMatchObject({
      messages: both,
      reports: { b: { outcome: 'ok', state: 'unregistered', asOfMs: null } },
      membership: { state: 'ok' },
    });
  // It knows that its own list is old, and asks those that it knows.
  await eventually(async () => expect((await search(b.port)).membership.state).toBe('stale'));
  expect(await search(b.port)).toMatchObject({ messages: both });
  cable.plugIn();
  await eventually(async () => expect(await stateOf(a.port, 'b')).toBe('up'));
  cable.pull();
  await eventually(async () => expect(await stateOf(a.port, 'b')).toBe('unregistered'));
  await b.running.stop();
  await eventually(async () =>
    expect((await search(a.port)).reports.b).toMatchObject({ outcome: 'gone', state: 'failed' }),
  );
  expect(await stateOf(a.port, 'b')).toBe('failed');
});

it('a node whose registry was not read yet says so in every response, and never that it is alone', async () => {
  const etcd = await startTestEtcd();
  await startTestNode({ files: { 'b.log': line('of b') }, settings: { cluster: clusterSettings('b', etcd.url) } });
  etcd.pause();
  const [port = 0] = await freePorts(1);
  const settings = testSettings(tempDir(), { http: { port }, cluster: clusterSettings('a', etcd.url) });
  const starting = startWithSharedThreads({ settings });
  onTestFinished(async () => (await starting).stop());
  const readiness = async () => {
    const { checks } = JSON.parse((await sendRequest(port, '/health/ready')).body.toString()) as Readiness;
    return checks.find(({ name }) => name === 'cluster');
  };
  await eventually(async () => expect(await readiness()).toMatchObject({ ok: false }));
  // Sent while it starts, and answered when it gives up waiting.
  expect((await search(port)).membership).toMatchObject({ state: 'stale', detail: expect.any(String) });
  expect((await requestJson<ClusterNodes>(port, '/api/v1/nodes')).membership.state).toBe('stale');
  expect(await readiness()).toMatchObject({ ok: false });
  etcd.resume();
  await eventually(async () =>
    expect(await search(port)).toMatchObject({ messages: ['of b'], membership: { state: 'ok' } }),
  );
  expect(await readiness()).toMatchObject({ ok: true });
});
