import { PortholeError } from '@porthole/contract';
import { expect, it, onTestFinished } from 'vitest';
import { GossipCluster } from '../gossip/testing/gossip-cluster.ts';
import { clusterGauges, type GaugeDeps } from './member-gauges.ts';
import { SnapshotCache } from './snapshots/snapshot-cache.ts';
import { SnapshotCollector } from './snapshots/snapshot-collector.ts';
import { fakePeers, mask, member, NOW_MS, snapshot } from './testing/fake-deps.ts';
import { fakeNode, file, NODE } from './testing/fake-node.ts';

const REFRESH_MS = 30_000;
const noClocks: GaugeDeps['clocks'] = { of: () => undefined, measuredMs: () => undefined };

const nothingSent: GaugeDeps['collector'] = { heardOf: () => undefined };

function gaugeDeps(given: Partial<GaugeDeps> = {}): GaugeDeps {
  const { table } = new GossipCluster(1).get('n000').gossip;
  return {
    directory: { members: [], departed: () => [] },
    clocks: noClocks,
    gossip: { isActive: false, keeps: () => true, nowMs: 100_000, table },
    collector: nothingSent,
    membership: {},
    refreshMs: REFRESH_MS,
    ...given,
  };
}

it('of a small cluster a member is up while it sends something; one that never did, or has failed, is down', () => {
  const measured: Record<string, number> = { a: 90_000, b: 1 };
  const gone = { state: 'failed', sinceMs: NOW_MS } as const;
  const left = { state: 'left', sinceMs: NOW_MS } as const;
  const ids = ['a', 'b', 'contract-only', 'never'];
  const gauges = clusterGauges(
    gaugeDeps({
      directory: {
        members: [...ids.map((id) => member(id)), member('self', { isSelf: true })],
        departed: () => [snapshot('gone', { departed: gone }), snapshot('left', { departed: left })],
      },
      clocks: {
        of: (id) => (id === 'a' ? { offsetMs: 70, uncertaintyMs: 1 } : undefined),
        measuredMs: (id) => measured[id],
      },
      collector: { heardOf: (id) => (id === 'contract-only' ? { atMs: 80_000, lastRecordMs: 60_000 } : undefined) },
    }),
  );
  expect(gauges.members).toEqual([
    { id: 'a', isUp: true, clockOffsetMs: 70, lastRecordAgeMs: null },
    { id: 'b', isUp: false, clockOffsetMs: null, lastRecordAgeMs: null },
    { id: 'contract-only', isUp: true, clockOffsetMs: null, lastRecordAgeMs: 40_000 },
    { id: 'never', isUp: false, clockOffsetMs: null, lastRecordAgeMs: null },
    { id: 'gone', isUp: false, clockOffsetMs: null, lastRecordAgeMs: null },
  ]);
  expect(gauges.isDuplicate).toBe(false);
  expect(clusterGauges(gaugeDeps({ membership: { isDuplicate: true } })).isDuplicate).toBe(true);
});

it('the age of the newest record is by the clock of this node, and grows while nothing newer is sent', async () => {
  const snapshots = new SnapshotCache({ store: null, report: () => {} });
  let [logFiles, runningMs] = [async () => [file({ lastTimeMs: NOW_MS - 2000 }), file({ lastTimeMs: null })], 1000];
  const states = { a: fakeNode({ config: async () => ({ config: '', node: NODE }), logFiles: () => logFiles() }) };
  const clocks = { of: () => ({ offsetMs: 3000, uncertaintyMs: 1 }), measuredMs: () => undefined };
  const collector = new SnapshotCollector({
    snapshots,
    peers: fakePeers({ states }),
    clocks,
    mask,
    nowMs: () => NOW_MS,
    runningMs: () => runningMs,
  });
  onTestFinished(() => collector.close());
  const { table } = new GossipCluster(1).get('n000').gossip;
  const ageAt = (nowMs: number) => {
    const gossip = { isActive: false, keeps: () => true, nowMs, table };
    const directory = { members: [member('a')], departed: () => [] };
    return clusterGauges(gaugeDeps({ collector, clocks, gossip, directory })).members[0]?.lastRecordAgeMs;
  };
  expect(ageAt(1000)).toBe(null);
  await collector.collectAll();
  expect([ageAt(1000), ageAt(61_000)]).toEqual([5000, 65_000]);
  runningMs = 31_000;
  logFiles = () => Promise.reject(new PortholeError('UNREACHABLE', 'no'));
  await collector.collectAll();
  expect(ageAt(31_000)).toBe(35_000);
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
    const gauges = clusterGauges(gaugeDeps({ directory, gossip }));
    for (const { id, isUp } of gauges.members) counts.set(id, [...(counts.get(id) ?? []), isUp]);
  }
  expect(counts.get('n004')).not.toContain(true);
  expect(counts.get('n005')).toEqual(counts.get('n005')?.map(() => true));
  expect([...counts.values()].every(({ length }) => length >= 2 && length <= 3)).toBe(true);
});
