import { PortholeError } from '@porthole/contract';
import { expect, it, onTestFinished } from 'vitest';
import { ProfileCache } from '../membership/profiles/profile-cache.ts';
import { Recorders } from '../recorder/recorders.ts';
import { clusterGauges, type GaugeDeps } from './member-gauges.ts';
import { ProfileCollector } from './profile-collector.ts';
import { fakePeers, mask, member, NOW_MS, profile } from './testing/fake-deps.ts';
import { fakeNode, file, NODE } from './testing/fake-node.ts';

const REFRESH_MS = 30_000;
const noClocks: GaugeDeps['clocks'] = { of: () => undefined, measuredMs: () => undefined };

const nothingSent: GaugeDeps['collector'] = { lastSeen: () => undefined };

function gaugeDeps(given: Partial<GaugeDeps> = {}): GaugeDeps {
  return {
    directory: { members: [], departed: () => [] },
    clocks: noClocks,
    recorders: { keeps: () => true },
    runningMs: () => 100_000,
    collector: nothingSent,
    membership: {},
    refreshMs: REFRESH_MS,
    ...given,
  };
}

it('a member is up while it sends something; one that never did, or has failed, is down', () => {
  const measured: Record<string, number> = { a: 90_000, b: 1 };
  const gone = { state: 'failed', sinceMs: NOW_MS } as const;
  const left = { state: 'left', sinceMs: NOW_MS } as const;
  const ids = ['a', 'b', 'contract-only', 'never'];
  const gauges = clusterGauges(
    gaugeDeps({
      directory: {
        members: [...ids.map((id) => member(id)), member('self', { isSelf: true })],
        departed: () => [profile('gone', { departed: gone }), profile('left', { departed: left })],
      },
      clocks: {
        of: (id) => (id === 'a' ? { offsetMs: 70, uncertaintyMs: 1 } : undefined),
        measuredMs: (id) => measured[id],
      },
      collector: { lastSeen: (id) => (id === 'contract-only' ? { atMs: 80_000, lastRecordMs: 60_000 } : undefined) },
    }),
  );
  expect(gauges.members).toEqual([
    { id: 'a', isUp: true, clockOffsetMs: 70, lastRecordAgeMs: null },
    { id: 'b', isUp: false, clockOffsetMs: null, lastRecordAgeMs: null },
    { id: 'contract-only', isUp: true, clockOffsetMs: null, lastRecordAgeMs: 40_000 },
    { id: 'never', isUp: false, clockOffsetMs: null, lastRecordAgeMs: null },
    { id: 'gone', isUp: false, clockOffsetMs: null, lastRecordAgeMs: null },
  ]);
  expect(gauges.namesakeUrl).toBeNull();
  expect(clusterGauges(gaugeDeps({ membership: { namesakeUrl: 'http://b' } })).namesakeUrl).toBe('http://b');
});

it('the age of the newest record is by the clock of this node, and grows while nothing newer is sent', async () => {
  const profiles = new ProfileCache({ store: null, report: () => {} });
  let [logFiles, runningMs] = [async () => [file({ lastTimeMs: NOW_MS - 2000 }), file({ lastTimeMs: null })], 1000];
  const states = { a: fakeNode({ config: async () => ({ config: '', node: NODE }), logFiles: () => logFiles() }) };
  const clocks = { of: () => ({ offsetMs: 3000, uncertaintyMs: 1 }), measuredMs: () => undefined };
  const collector = new ProfileCollector({
    profiles,
    peers: fakePeers({ states }),
    clocks,
    mask,
    nowMs: () => NOW_MS,
    runningMs: () => runningMs,
  });
  onTestFinished(() => collector.close());
  const ageAt = (nowMs: number) => {
    const directory = { members: [member('a')], departed: () => [] };
    return clusterGauges(gaugeDeps({ collector, clocks, directory, runningMs: () => nowMs })).members[0]
      ?.lastRecordAgeMs;
  };
  expect(ageAt(1000)).toBe(null);
  await collector.collectAll();
  expect([ageAt(1000), ageAt(61_000)]).toEqual([5000, 65_000]);
  runningMs = 31_000;
  logFiles = () => Promise.reject(new PortholeError('UNREACHABLE', 'no'));
  await collector.collectAll();
  expect(ageAt(31_000)).toBe(35_000);
});

it('of a large cluster each member is in the metrics of two nodes', () => {
  const ids = Array.from({ length: 20 }, (_, place) => `n${place}`);
  const counts = new Map<string, number>();
  for (const selfId of ids) {
    const members = ids.map((id) => member(id, { isSelf: id === selfId }));
    const directory = {
      members,
      departed: () => [],
      state: { kind: 'etcd', state: 'ok', detail: null, asOfMs: 0 } as const,
    };
    const peers = { all: () => members.map((each) => ({ member: each }) as never) };
    const recorders = new Recorders({ directory, peers, selfId, count: 2, directMembers: 16 });
    for (const { id } of clusterGauges(gaugeDeps({ directory, recorders })).members)
      counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  expect([...counts.values()]).toEqual(ids.map(() => 2));
});
