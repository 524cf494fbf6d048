import { startTestEtcd, type TestEtcd } from '@porthole/cluster/testing';
import type { ClusterConfig } from '@porthole/contract';
import { eventually } from '@porthole/logs/testing';
import { tempDir } from '@porthole/records/testing';
import { expect, it } from 'vitest';
import { ClusterProcess, type FollowedCluster, writeRecord } from './testing/cluster-process.ts';

/** Far more than anything here takes; only a failure takes so long. */

const ALL_UP = { n1: 'up', n2: 'up', n3: 'up' };

const REGISTRATIONS = '/porthole/porthole/members/';

/** Three nodes, their registry, and somebody who listens to them through the first. */
interface World {
  etcd: TestEtcd;
  n1: ClusterProcess;
  n2: ClusterProcess;
  n3: ClusterProcess;
  followed: FollowedCluster;
}

it('the story of a cluster: it is one through deaths, pauses and the loss of its registry', async () => {
  const world = await threeNodesJoin();
  await aSearchAndAFollowAreMerged(world);
  await oneIsKilled(world);
  await oneIsPaused(world);
  const whole = await theKilledOneComesBackElsewhere(world);
  await theRegistryStops(whole);
  await theRegistryForgets(whole);
  await theRegistryMovesOnWhileOneSleeps(whole);
  await allStop(whole);
  const { messages } = world.followed;
  expect(messages).toEqual([...new Set(messages)]);
});

async function threeNodesJoin(): Promise<World> {
  const etcd = await startTestEtcd();
  const [n1, n2, n3] = await Promise.all([startNode(etcd, 'n1'), startNode(etcd, 'n2'), startNode(etcd, 'n3')]);
  for (const node of [n1, n2, n3]) await eventually(async () => expect(await statesBy(node)).toEqual(ALL_UP));
  // Errors are not counted where that takes too long, as on a busy machine.
  await eventually(async () => {
    const { membership, nodes } = await n2.nodes();
    expect(membership).toMatchObject({ kind: 'etcd', state: 'ok', detail: null });
    expect(nodes.map(({ id, url, isSelf, recentErrors }) => ({ id, url, isSelf, recentErrors }))).toEqual([
      { id: 'n1', url: n1.url, isSelf: false, recentErrors: 0 },
      { id: 'n2', url: n2.url, isSelf: true, recentErrors: 0 },
      { id: 'n3', url: n3.url, isSelf: false, recentErrors: 0 },
    ]);
  });
  return { etcd, n1, n2, n3, followed: await n1.follow() };
}

function startNode(etcd: TestEtcd, id: string, cwd = tempDir()): Promise<ClusterProcess> {
  writeRecord(cwd, `${id} starts`, { timeMs: Date.now() - 120_000 });
  return ClusterProcess.start(id, { cwd, flags: ['--cluster-etcd', etcd.url] });
}

async function statesBy(node: ClusterProcess): Promise<Record<string, string>> {
  return Object.fromEntries((await node.nodes()).nodes.map(({ id, state }) => [id, state]));
}

async function aSearchAndAFollowAreMerged({ n1, n2, n3, followed }: World): Promise<void> {
  const startMs = Date.now() - 60_000;
  const written = [n3, n1, n2, n1].map((node, index) => ({
    node,
    timeMs: startMs + index * 1000,
    text: `word ${index}`,
  }));
  for (const { node, text, timeMs } of written) node.write(text, { timeMs });
  for (const asked of [n1, n2, n3]) await eventually(() => isMerged(asked, written));
  await eventually(() => expect(followed.messages.toSorted()).toEqual(written.map(({ text }) => text)));
}

interface WrittenRecord {
  node: ClusterProcess;
  timeMs: number;
  text: string;
}

async function isMerged(asked: ClusterProcess, written: readonly WrittenRecord[]): Promise<void> {
  const { records, end, outcomes } = await asked.search();
  expect(outcomes).toEqual({ n1: 'ok', n2: 'ok', n3: 'ok' });
  expect(end).toMatchObject({ reason: 'exhausted', records: 7, cursor: null, membership: { state: 'ok' } });
  const messages = records.map(({ node, message }) => `${node}: ${message}`);
  expect(messages.slice(0, 3).toSorted()).toEqual(['n1: n1 starts', 'n2: n2 starts', 'n3: n3 starts']);
  expect(messages.slice(3)).toEqual(written.map(({ node, text }) => `${node.id}: ${text}`));
}

async function oneIsKilled({ n1, n2, n3, followed }: World): Promise<void> {
  await n3.waitForRecording(n1);
  await n3.kill();
  const [states, found, config] = await Promise.all([n1.nodes(), n2.search(), configsBy(n1)]);
  const dead = states.nodes.find(({ id }) => id === 'n3');
  expect(dead).toMatchObject({ state: 'unreachable', report: { outcome: 'refused' }, lastSeenMs: expect.any(Number) });
  expect(found.outcomes).toEqual({ n1: 'ok', n2: 'ok', n3: 'refused' });
  expect(found.messages).toEqual(expect.arrayContaining(['n1 starts', 'n2 starts', 'word 3']));
  expect(config).toMatchObject({ n3: { outcome: 'refused', asOfMs: expect.any(Number) } });
  await eventually(async () => expect(await statesBy(n1)).toEqual({ ...ALL_UP, n3: 'failed' }));

  const gone = (await n1.nodes()).nodes.find(({ id }) => id === 'n3');
  expect(gone).toMatchObject({ report: { outcome: 'gone', asOfMs: expect.any(Number) }, uptimeMs: null });
  expect(gone?.lastRecordMs).toBeGreaterThan(0);
  const left = (await configsBy(n1)).n3;
  expect(left).toMatchObject({ outcome: 'gone', asOfMs: expect.any(Number) });
  expect(left?.text).toContain('name = "n3"');
  expect(left?.text).not.toContain('secret of');
  expectKeptPrivately(n1);
  const { messages, end } = await n1.search();
  expect(messages).toContain('n3 starts');
  expect(end.members.at(-1)).toMatchObject({ id: 'n3', outcome: 'gone', asOfMs: expect.any(Number) });
  await eventually(() => expect(followed.memberOutcomes('n3').at(-1)).toBe('gone'));
  expect(followed.memberOutcomes('n3')).toContain('refused');
  await expectFollowed(followed, n2, 'after a death');
}

/** Also for the next run of this node; nobody else may read them. */
function expectKeptPrivately(node: ClusterProcess): void {
  const kept = node.kept('n3');
  expect(kept?.text).toContain('n3 starts');
  expect(JSON.stringify(kept)).not.toContain('secret of');
}

async function configsBy(node: ClusterProcess) {
  const { body } = await node.request('/api/v1/config/settings?nodes=*');
  const { configs } = JSON.parse(body) as ClusterConfig;
  return Object.fromEntries(
    configs.map(({ id, config, report: { outcome, asOfMs } }) => [id, { text: config?.config, outcome, asOfMs }]),
  );
}

/** Writes until it is received: a member that joins is followed from its end, and it is not reported when. */
async function expectFollowed(followed: FollowedCluster, node: ClusterProcess, text: string): Promise<void> {
  let count = 0;
  await eventually(async () => {
    const message = `${text}, ${node.id} says for the ${++count}. time`;
    node.write(message);
    await eventually(() => expect(followed.messages).toContain(message), { withinMs: 1000 });
  });
}

/** One that has been heard from lately is slow. */
const LATE = expect.stringMatching(/^(?:slow|timeout)$/);

async function oneIsPaused({ n1, n2, followed }: World): Promise<void> {
  n2.program.kill('SIGSTOP');
  const [states, found] = await Promise.all([n1.nodes(), n1.search()]);
  n2.program.kill('SIGCONT');
  expect(states.nodes.find(({ id }) => id === 'n1')).toMatchObject({ state: 'up' });
  expect(states.nodes.find(({ id }) => id === 'n2')).toMatchObject({
    // It was heard from just now; its lease may end while it is waited for.
    state: expect.stringMatching(/^(?:up|unreachable|failed)$/),
    report: { outcome: LATE },
  });
  expect(found.outcomes).toEqual({ n1: 'ok', n2: LATE, n3: 'gone' });
  expect(found.messages).toContain('n1 starts');
  for (const node of [n1, n2])
    await eventually(async () => expect(await statesBy(node)).toMatchObject({ n1: 'up', n2: 'up' }));
  expect((await n1.search()).outcomes).toEqual({ n1: 'ok', n2: 'ok', n3: 'gone' });
  await expectFollowed(followed, n2, 'after a pause');
}

async function theKilledOneComesBackElsewhere(world: World): Promise<World> {
  const { etcd, n1, n2, n3: before, followed } = world;
  const n3 = await startNode(etcd, 'n3', before.cwd);
  expect(n3.url).not.toBe(before.url);
  for (const node of [n1, n2, n3]) await eventually(async () => expect(await statesBy(node)).toEqual(ALL_UP));
  expect((await n1.nodes()).nodes.find(({ id }) => id === 'n3')?.url).toBe(n3.url);
  expect((await n2.search()).messages.filter((text) => text === 'n3 starts')).toHaveLength(2);
  await expectFollowed(followed, n3, 'back again');
  return { ...world, n3 };
}

async function theRegistryStops({ etcd, n1, n2, n3, followed }: World): Promise<void> {
  await etcd.stop();
  for (const node of [n1, n2, n3]) {
    await eventually(async () => expect(await registryBy(node)).toEqual({ ready: 'degraded', fresh: '0' }));
    const { membership } = await node.nodes();
    expect(membership).toMatchObject({ kind: 'etcd', state: 'stale', detail: expect.stringContaining(etcd.url) });
    expect(await statesBy(node)).toEqual(ALL_UP);
    const { outcomes, end } = await node.search();
    expect(outcomes).toEqual({ n1: 'ok', n2: 'ok', n3: 'ok' });
    expect(end.membership.state).toBe('stale');
    await expectFollowed(followed, node, 'without a registry');
  }
  expect(JSON.parse((await n1.request('/health/ready')).body).checks).toContainEqual({
    name: 'cluster',
    ok: false,
    detail: expect.stringContaining(etcd.url),
  });
  await etcd.start();
  for (const node of [n1, n2, n3]) await isWhole(node);
}

async function registryBy(node: ClusterProcess) {
  const ready = JSON.parse((await node.request('/health/ready')).body) as { status: string };
  const metrics = (await node.request('/metrics')).body;
  return { ready: ready.status, fresh: /^porthole_cluster_membership_fresh (\d)$/m.exec(metrics)?.[1] };
}

async function isWhole(node: ClusterProcess): Promise<void> {
  await eventually(async () => {
    expect(await registryBy(node)).toEqual({ ready: 'ready', fresh: '1' });
    expect(await statesBy(node)).toEqual(ALL_UP);
    const { outcomes, end } = await node.search();
    expect(outcomes).toEqual({ n1: 'ok', n2: 'ok', n3: 'ok' });
    expect(end.membership.state).toBe('ok');
  });
}

async function theRegistryForgets({ etcd, n1, n2, n3, followed }: World): Promise<void> {
  await etcd.wipe();
  await eventually(async () => expect(await registered(etcd)).toEqual(['n1', 'n2', 'n3']));
  for (const node of [n1, n2, n3]) await isWhole(node);
  for (const node of [n1, n2, n3]) await expectFollowed(followed, node, 'after the registry forgot');
}

async function registered(etcd: TestEtcd): Promise<string[]> {
  const names = (await etcd.list(REGISTRATIONS)).map(({ key }) => key.slice(REGISTRATIONS.length));
  return names.filter((name) => !name.endsWith('/left')).sort();
}

/** Its connection breaks while it sleeps, one leaves, and the history of that is gone when it wakes up. */
async function theRegistryMovesOnWhileOneSleeps({ etcd, n1, n2, n3, followed }: World): Promise<void> {
  n2.program.kill('SIGSTOP');
  await etcd.restart();
  await eventually(async () => expect((await n3.nodes()).membership.state).toBe('ok'));
  n3.program.kill('SIGTERM');
  expect(await n3.program.end()).toMatchObject({ code: 0, stderr: '' });
  // By its own word: a lease takes longer.
  expect(await registered(etcd)).not.toContain('n3');
  await etcd.put(`${REGISTRATIONS}nobody`, 'in between');
  await etcd.delete(`${REGISTRATIONS}nobody`);
  await etcd.compact();
  n2.program.kill('SIGCONT');
  for (const node of [n1, n2]) {
    await eventually(async () => expect(await statesBy(node)).toEqual({ ...ALL_UP, n3: 'left' }));
    await eventually(async () => expect((await node.nodes()).membership.state).toBe('ok'));
    await expectFollowed(followed, node, 'after a sleep');
  }
}

async function allStop({ etcd, n1, n2 }: World): Promise<void> {
  for (const node of [n2, n1]) {
    node.program.kill('SIGTERM');
    expect(await node.program.end()).toMatchObject({ code: 0, stderr: '' });
    expect(await registered(etcd)).not.toContain(node.id);
  }
  expect(await registered(etcd)).toEqual([]);
}
