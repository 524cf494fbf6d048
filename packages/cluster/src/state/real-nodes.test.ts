import type { ClusterNode, Member, MemberOutcome } from '@porthole/contract';
import { createZone } from '@porthole/logs';
import { eventually } from '@porthole/logs/testing';
import { flattenToml, redactToml, TomlError } from '@porthole/server/config';
import { startTestNode } from '@porthole/server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { ClockTable } from '../fan-out/clock.ts';
import { createPeers } from '../fan-out/peers.ts';
import { MemberDirectory } from '../membership/member-directory.ts';
import type { Membership } from '../membership/membership.ts';
import { ProfileCache } from '../membership/profiles/profile-cache.ts';
import { flattenToml as flatten } from '../settings/fetch-settings.ts';
import { FakeLindb } from '../testing/fake-lindb.ts';
import { fakeMasking } from '../testing/fake-masking.ts';
import { clusterConfig, configDiff } from './cluster-config.ts';
import { clusterFiles } from './cluster-files.ts';
import { clusterNodes } from './cluster-nodes.ts';
import { clusterDigest } from './counts/cluster-digest.ts';
import { clusterHistogram } from './counts/cluster-histogram.ts';
import { ProfileCollector } from './profile-collector.ts';
import { member } from './testing/fake-deps.ts';
import { fakeNode } from './testing/fake-node.ts';

function redact(text: string): string | undefined {
  try {
    return redactToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return undefined;
  }
}

const stamp = (timeMs: number) => new Date(timeMs).toISOString().replace('T', ' ').replace('Z', '');

const NOW_MS = Date.now();

function logText(name: string): string {
  const at = (agoMs: number) => stamp(NOW_MS - agoMs);
  return [
    `${at(3_600_000)}\tERROR\told/place.go:1\tlong ago`,
    `${at(60_000)}\tERROR\tbroker/runtime.go:172\t${name} failed`,
    `${at(50_000)}\tINFO\tbroker/runtime.go:173\t${name} goes on`,
    '',
  ].join('\n');
}

/** Its first line is never sent. */
async function startLindb(): Promise<string> {
  const fake = await FakeLindb.start({
    'lindb.log': `${stamp(NOW_MS - 7_200_000)}\tINFO\ta.go:1\tfirst\n${logText('lindb')}`,
  });
  fake.config = 'password = "hunter2"\nlimit = 1\n';
  return fake.url;
}

async function startCluster() {
  const settings = { node: { timeZone: 'UTC' } };
  const one = await startTestNode({ files: { 'a.log': logText('one') }, settings });
  const two = await startTestNode({
    files: { 'a.log': logText('two') },
    settings: { ...settings, logging: { level: 'debug' } },
  });
  const members: Member[] = [
    member('dead', { url: 'http://127.0.0.1:1' }),
    member('lindb', { url: await startLindb(), role: 'storage' }),
    member('one', { url: `http://127.0.0.1:${one.port}` }),
    member('two', { url: `http://127.0.0.1:${two.port}` }),
  ];
  const peers = createPeers({
    membership: { members },
    self: fakeNode(),
    selfId: 'asking',
    masking: fakeMasking({ mask: redact }),
    timeoutMs: 10_000,
    zoneOf: () => createZone('UTC'),
  });
  onTestFinished(() => peers.close());
  const clocks = new ClockTable({ peers, selfId: 'asking', timeoutMs: 10_000 });
  for (const id of ['one', 'two']) await clocks.measure(peers.get(id));
  const report = (problem: string) => expect(problem).toBe('nothing');
  const kept = new ProfileCache({ store: null, report });
  const collector = new ProfileCollector({ profiles: kept, peers, clocks, mask: redact });
  onTestFinished(() => collector.close());
  let listener = () => {};
  const membership: Membership = {
    members,
    state: { kind: 'etcd', state: 'ok', detail: null, asOfMs: 0 },
    onChange(changed) {
      listener = changed;
      return () => {};
    },
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const registered = new MemberDirectory({ membership, profiles: kept });
  const directory = {
    of: (id: string) => registered.of(id),
    standingOf: (id: string, outcome: MemberOutcome) => registered.standingOf(id, outcome),
    has: () => false,
    find: async () => undefined,
    departed: () => [],
    isAlive: () => false,
  };
  const deps = { peers, clocks, directory, mask: redact, timeoutMs: 10_000, maxParallel: 8, nowMs: () => Date.now() };
  const remove = (at: number, count: number) => {
    members.splice(at, count);
    listener();
  };
  return { parts: deps, remove, collector, known: registered };
}

it('a cluster of real nodes, a dead one and a contract-only one', async () => {
  const { parts: deps, remove, collector, known } = await startCluster();
  const membership = { state: { kind: 'static', state: 'ok', detail: null, asOfMs: 0 } } as const;
  // Errors are not counted where that takes too long, as on a busy machine.
  let nodes: ClusterNode[] = [];
  await eventually(async () => {
    ({ nodes } = await clusterNodes({ ...deps, cluster: 'test', membership }));
    expect(nodes.map(({ id, state, timeZone, recentErrors }) => [id, state, timeZone, recentErrors])).toEqual([
      ['dead', 'unreachable', null, null],
      ['lindb', 'up', 'UTC', 1],
      ['one', 'up', 'UTC', 1],
      ['two', 'up', 'UTC', 1],
    ]);
  });
  expect(Math.abs((nodes[2]?.lastRecordMs ?? 0) - (NOW_MS - 50_000))).toBeLessThan(20_000);

  const { configs } = await clusterConfig(deps, {});
  expect(JSON.stringify(configs)).not.toContain('hunter2');
  expect(configs.map(({ id, config, report }) => [id, config !== null, report.outcome])).toEqual([
    ['dead', false, 'refused'],
    ['lindb', true, 'ok'],
    ['one', true, 'ok'],
    ['two', true, 'ok'],
  ]);

  const { roles } = await configDiff(deps, {});
  expect(roles.map(({ role }) => role)).toEqual(['node', 'storage']);
  const unexpected = roles[0]?.differences.filter(({ isExpected }) => !isExpected).map(({ key }) => key);
  expect(unexpected).toEqual(['logging.level']);

  const { files } = await clusterFiles(deps, {});
  expect(files.map(({ node, name, format }) => [node, name, format])).toEqual([
    ['lindb', 'lindb.log', 'contract'],
    ['one', 'a.log', 'contract'],
    ['two', 'a.log', 'contract'],
  ]);

  const { groups, members: reports } = await clusterDigest(deps, { limit: 10, minLevel: 'ERROR' });
  expect(groups.map(({ source, count, nodes: shares }) => [source, count, shares])).toEqual([
    ['broker/runtime.go:172', 3, { lindb: 1, one: 1, two: 1 }],
    ['old/place.go:1', 3, { lindb: 1, one: 1, two: 1 }],
  ]);
  expect(reports.map(({ outcome }) => outcome)).toEqual(['refused', 'ok', 'ok', 'ok']);

  const { buckets } = await clusterHistogram(deps, { buckets: 60 });
  const sum = buckets.flatMap(({ counts }) => Object.values(counts)).reduce((all, count) => all + count, 0);
  expect(sum).toBe(9);

  await collector.collectAll();
  remove(1, 2);
  expect(known.departed()).toMatchObject([
    { member: { id: 'lindb' }, config: { config: expect.any(String) }, files: [{ name: 'lindb.log' }] },
    { member: { id: 'one' }, config: { config: expect.any(String) }, files: [{ name: 'a.log' }] },
  ]);
});

it('a text is taken apart as the settings of a node are', () => {
  const text =
    'a = 1\nb."c d" = [1, 2]\n[[t]]\nx = { y = "z" }\n[[t]]\nx.y = 2.50\n[u.v]\nbig = 99999999999999999\nd = 2026-11-15\n';
  const theirs = flattenToml(text).map(({ key, value }) => [key, value]);
  expect(Object.fromEntries(flatten(text))).toEqual(Object.fromEntries(theirs));
});
