import { createZone, Scrubbing } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { startTestNode } from '@porthole/server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { LocalCluster } from './local-cluster.ts';
import { startTestEtcd } from './membership/testing/etcd.ts';
import { joinEtcd, testSelf } from './membership/testing/members.ts';
import { encodeState } from './state/published-states.ts';
import { description, fakeNode } from './state/testing/fake-node.ts';

const line = (level: string) => `${new Date(Date.now() - 60_000).toISOString()}\t${level}\ta.go:1\ttext\n`;

it('a large cluster is listed from the registry, with the age of what is shown; nothing that does not respond is up', async () => {
  const etcd = await startTestEtcd();
  const cluster = { role: 'storage', name: 'test', etcd: [etcd.url] };
  const start = (nodeId: string) =>
    startTestNode({
      files: { 'a.log': `${line('ERROR')}${line('INFO')}` },
      settings: { cluster: { ...cluster, nodeId } },
    });
  const [one, old] = await Promise.all([start('one'), start('old')]);
  // Registered, with a state that says all is well, but nobody listens there.
  const dead = await joinEtcd('dead', etcd.url, { self: testSelf('dead', { url: 'http://127.0.0.1:1' }) });
  const facts = { timeZone: null, uptimeMs: 1, lastRecordMs: null, recentErrors: 7, problems: [] };
  dead.states?.publish(encodeState({ ...facts, node: testSelf('dead').node }, Date.now()));
  // As it publishes itself in a cluster of this size.
  const published = { ...facts, node: one.running.node, lastRecordMs: Date.now() - 5000 };
  await etcd.put('/porthole/test/state/one', encodeState(published, Date.now() - 2000));
  const membership = await joinEtcd('self', etcd.url);
  const local = await LocalCluster.open({
    name: 'test',
    membership,
    self: fakeNode({ describe: async () => description({ clockMs: Date.now() }) }),
    selfId: 'self',
    access: {},
    zone: createZone('UTC'),
    limits: { firstBatchMs: 2000, memberTimeoutMs: 5000, maxParallel: 64 },
    refreshMs: 1500,
    directMembers: 1,
    recorder: { dir: tempDir(), count: 0, maxBytes: 1, maxMs: 1, keepMs: 1000 },
    fingerprint: undefined,
    mask: (text) => text,
    maskSource: async (text) => text,
    findSecrets: () => [],
    scrubbing: new Scrubbing(),
    report: (problem) => expect(problem).toBe('nothing'),
  });
  onTestFinished(() => local.close());
  await eventually(async () => {
    const { nodes } = await local.nodes();
    expect(nodes.map(({ id, state, recentErrors, asOfMs }) => [id, state, recentErrors, asOfMs !== undefined])).toEqual(
      [
        ['dead', 'unreachable', null, false],
        ['old', 'up', 1, false],
        ['one', 'up', 7, true],
        ['self', 'up', null, false],
      ],
    );
    const shown = nodes.find(({ id }) => id === 'one');
    expect(shown).toMatchObject({ role: 'storage', node: one.running.node, report: { outcome: 'ok' } });
    expect(Date.now() - (shown?.asOfMs ?? 0)).toBeGreaterThan(1000);
  });

  // This node publishes its own state, too.
  await eventually(async () => {
    const keys = (await etcd.list('/porthole/test/state/')).map(({ key }) => key.split('/').at(-1));
    expect(keys).toEqual(['dead', 'one', 'self']);
  });
  await old.running.stop();
  await eventually(async () => {
    const { nodes } = await local.nodes();
    expect(nodes.find(({ id }) => id === 'old')?.state ?? 'left').toBe('left');
  });
});
