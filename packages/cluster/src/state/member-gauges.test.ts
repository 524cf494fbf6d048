import { expect, it } from 'vitest';
import { GossipCluster } from '../gossip/testing/gossip-cluster.ts';
import { type ClusterGauges, clusterGauges, type GaugeDeps } from './member-gauges.ts';
import { member, NOW_MS, snapshot } from './testing/fake-deps.ts';

const REFRESH_MS = 30_000;
const byId = ({ members }: Pick<ClusterGauges, 'members'>) =>
  Object.fromEntries(members.map(({ id, isUp }) => [id, isUp]));
const noClocks: GaugeDeps['clocks'] = { of: () => undefined, measuredMs: () => undefined };

it('of a small cluster a member is up while its clock is measured, and one that has failed is down', () => {
  const { table } = new GossipCluster(1).get('n000').gossip;
  const measured: Record<string, number> = { a: 90_000, b: 1 };
  const gone = { state: 'failed', sinceMs: NOW_MS } as const;
  const left = { state: 'left', sinceMs: NOW_MS } as const;
  const gauges = clusterGauges({
    directory: {
      members: [member('a'), member('b'), member('contract-only'), member('self', { isSelf: true })],
      departed: () => [snapshot('gone', { departed: gone }), snapshot('left', { departed: left })],
    },
    clocks: {
      of: (id) => (id === 'a' ? { offsetMs: 70, uncertaintyMs: 1 } : undefined),
      measuredMs: (id) => measured[id],
    },
    gossip: { isActive: false, keeps: () => true, nowMs: 100_000, table },
    refreshMs: REFRESH_MS,
  });
  expect(byId(gauges)).toEqual({ a: true, b: false, gone: false });
  expect(gauges).toMatchObject({ isDuplicate: false, members: [{ clockOffsetMs: 70, lastRecordAgeMs: null }, {}, {}] });
});

it('of a large cluster each member is in the metrics of a few nodes', async () => {
  const cluster = new GossipCluster(20);
  await cluster.rounds(5);
  cluster.get('n004').isDown = true;
  await cluster.rounds(12);
  const counts = new Map<string, boolean[]>();
  for (const { gossip, isDown } of cluster.all) {
    if (isDown) continue;
    const directory = { members: [...cluster.members.keys()].map((id) => member(id)), departed: () => [] };
    const gauges = clusterGauges({ directory, clocks: noClocks, gossip, refreshMs: REFRESH_MS });
    for (const { id, isUp } of gauges.members) counts.set(id, [...(counts.get(id) ?? []), isUp]);
  }
  expect(counts.get('n004')).not.toContain(true);
  expect(counts.get('n005')).toEqual(counts.get('n005')?.map(() => true));
  expect([...counts.values()].every(({ length }) => length >= 2 && length <= 3)).toBe(true);
});
