import { createZone, Scrubbing } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import { startTestNode } from '@porthole/server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { LocalCluster } from '../local-cluster.ts';
import { createStaticMembers } from '../membership/static-members.ts';
import { description, fakeNode, NODE } from '../state/testing/fake-node.ts';
import { FakeLindb } from '../testing/fake-lindb.ts';

const line = (level: string) => `${new Date(Date.now() - 60_000).toISOString()}\t${level}\ta.go:1\ttext\n`;

/** A node that treats a handful of members as if they were hundreds. */
async function openLarge(members: readonly string[], refreshMs: number): Promise<LocalCluster> {
  const membership = createStaticMembers({
    self: { id: 'self', role: 'node', labels: {}, node: NODE, url: 'http://127.0.0.1:9' },
    members,
  });
  await membership.start();
  const cluster = await LocalCluster.open({
    name: 'test',
    membership,
    self: fakeNode({ describe: async () => description({ clockMs: Date.now() }) }),
    selfId: 'self',
    access: {},
    zone: createZone('UTC'),
    limits: { firstBatchMs: 2000, memberTimeoutMs: 5000, maxParallel: 64 },
    refreshMs,
    directMembers: 1,
    snapshots: { dir: '', maxBytes: 0, keepMs: 1000 },
    fingerprint: undefined,
    mask: (text) => text,
    findSecrets: () => [],
    scrubbing: new Scrubbing(),
    report: (problem) => expect(problem).toBe('nothing'),
  });
  onTestFinished(() => cluster.close());
  return cluster;
}

it('a large cluster is listed from memory, with the age of what is shown; nothing that does not respond is up', async () => {
  const settings = { cluster: { role: 'storage' } };
  const one = await startTestNode({ files: { 'a.log': `${line('ERROR')}${line('INFO')}` }, settings });
  const two = await startTestNode({ files: { 'a.log': line('INFO') }, settings });
  const lindb = await FakeLindb.start({ 'lindb.log': `${line('INFO')}${line('ERROR')}` });
  const cluster = await openLarge(
    [`one=${one.running.url}`, `two=${two.running.url}`, `lindb=${lindb.url}`, 'dead=http://127.0.0.1:1'].map((url) =>
      url.replace(/\/$/, ''),
    ),
    1500,
  );
  // Whoever was not heard of yet is contacted.
  const first = await cluster.nodes();
  expect(first.nodes.map(({ id, state }) => `${id} ${state}`)).toEqual([
    'dead unreachable',
    'lindb up',
    'one up',
    'self up',
    'two up',
  ]);
  let requests = 0;
  await eventually(async () => {
    requests++;
    const { nodes } = await cluster.nodes();
    expect(nodes.filter(({ asOfMs }) => asOfMs !== undefined).map(({ id }) => id)).toEqual(['lindb', 'one', 'two']);
    const [dead, , shown] = nodes;
    expect(dead).toMatchObject({ state: 'unreachable', report: { outcome: 'refused' }, lastSeenMs: null });
    expect(shown).toMatchObject({
      role: 'storage',
      state: 'up',
      recentErrors: 1,
      node: one.running.node,
      report: { outcome: 'ok' },
    });
    expect(shown?.asOfMs).toBeLessThanOrEqual(Date.now());
    expect(shown?.lastSeenMs).toBeGreaterThanOrEqual((shown?.asOfMs ?? Infinity) - 1);
    expect(shown?.clock?.uncertaintyMs).toBeLessThan(5000);
  });
  expect(requests).toBeGreaterThan(0);

  await two.running.stop();
  await eventually(async () => {
    const states = (await cluster.nodes()).nodes.map(({ id, state, report }) => `${id} ${state} ${report.outcome}`);
    expect(states).toContain('two unreachable refused');
    expect(states).toContain('one up ok');
  });
});
