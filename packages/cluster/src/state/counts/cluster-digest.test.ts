import { type ClusterDigest, type NodeState, PortholeError } from '@porthole/contract';
import type { Digest, DigestGroup, DigestQuery } from '@porthole/logs/types';
import { describe, expect, it } from 'vitest';
import { fakeDeps } from '../testing/fake-deps.ts';
import { end, fakeNode, group, hang, record } from '../testing/fake-node.ts';
import { clusterDigest } from './cluster-digest.ts';

const { type: _type, cursor: _cursor, ...END } = end();

/** A node with these groups, of which it returns as many as requested. */
function nodeWith(groups: readonly DigestGroup[], asked: DigestQuery[] = []): NodeState {
  return fakeNode({
    async logDigest(query) {
      asked.push(query);
      const wanted = groups.filter(({ isNew }) => isNew || !query.onlyNew).toSorted((a, b) => b.count - a.count);
      return { groups: wanted.slice(0, query.limit), totalGroups: wanted.length, ungrouped: 1, end: END };
    },
  });
}

it('the same place in the code of several members is one group, by the times of this node', async () => {
  const deps = fakeDeps({
    states: {
      a: nodeWith([group({ count: 2, firstMs: 1000, lastMs: 5000, sample: record('a', { timeMs: 5000 }) })]),
      b: nodeWith([group({ count: 3, firstMs: 1500, lastMs: 5500, sample: record('b', { timeMs: 5500 }) })]),
      c: nodeWith([
        group({ level: 'WARN' }),
        group({ source: null, shape: 'lost * of *', firstMs: null, lastMs: null }),
      ]),
    },
    clocks: { b: { offsetMs: 1000, uncertaintyMs: 2 } },
  });
  const { groups, totalGroups, ungrouped, members } = await clusterDigest(deps, { limit: 10 });
  expect(groups).toMatchObject([
    { source: 'a.go:1', level: 'ERROR', count: 5, firstMs: 500, lastMs: 5000, nodes: { a: 2, b: 3 } },
    { shape: 'lost * of *', count: 1, nodes: { c: 1 } },
    { level: 'WARN', count: 1, nodes: { c: 1 } },
  ]);
  expect(groups[0]?.sample).toMatchObject({ message: 'a', node: 'a', atMs: 5000 });
  expect([totalGroups, ungrouped]).toEqual([3, 3]);
  expect(members.map(({ id, count }) => [id, count])).toEqual([
    ['a', 1],
    ['b', 1],
    ['c', 2],
  ]);
});

it('shapes of several members that differ in what varies are one group', async () => {
  const lost = (...names: string[]) =>
    nodeWith(names.map((name) => group({ source: null, shape: `lost ${name} of the zone` })));
  const deps = fakeDeps({ states: { a: lost('ann', 'bob', 'cy'), b: lost('dee', 'eve'), c: lost('*', 'flo') } });
  const { groups, totalGroups } = await clusterDigest(deps, { limit: 10 });
  expect(groups).toMatchObject([{ shape: 'lost * of the zone', count: 7, nodes: { a: 3, b: 2, c: 2 } }]);
  expect(totalGroups).toBe(1);
});

it('a group that is large only in total is among the largest: more is requested than returned', async () => {
  const own = (name: string) => [group({ source: name, count: 5 }), group({ source: 'everywhere', count: 4 })];
  const asked: DigestQuery[] = [];
  const deps = fakeDeps({ states: { a: nodeWith(own('a'), asked), b: nodeWith(own('b')), c: nodeWith(own('c')) } });
  const { groups, totalGroups } = await clusterDigest(deps, { limit: 1, role: 'node', fromMs: 5 });
  expect(groups).toMatchObject([{ source: 'everywhere', count: 12 }]);
  expect(totalGroups).toBe(4);
  expect(asked).toEqual([{ limit: 4, fromMs: 5 }]);
});

/** A node with records of these call sites at these times. It judges by all of them, as a node does. */
function nodeLogging(sites: Readonly<Record<string, readonly number[]>>, more: Partial<Digest> = {}): NodeState {
  return fakeNode({
    async logDigest({ fromMs = -Infinity, toMs = Infinity, newSinceMs = -Infinity, onlyNew, limit }) {
      const groups = Object.entries(sites).flatMap(([source, times]) => {
        const inRange = times.filter((timeMs) => timeMs >= fromMs && timeMs < toMs);
        const isNew = newSinceMs > -Infinity && times.every((timeMs) => timeMs >= newSinceMs);
        if (inRange.length === 0 || (onlyNew && !isNew)) return [];
        const [firstMs, lastMs] = [Math.min(...inRange), Math.max(...inRange)];
        return group({ source, count: inRange.length, isNew, firstMs, lastMs });
      });
      const shown = groups.toSorted((x, y) => y.count - x.count).slice(0, limit);
      const baseline = newSinceMs > -Infinity && { baseline: { fromMs: null, isComplete: true } };
      return { groups: shown, totalGroups: groups.length, ungrouped: 0, ...baseline, end: END, ...more };
    },
  });
}

describe('a group is new', () => {
  const request = { limit: 10, fromMs: 50, newSinceMs: 70 };
  const judged = ({ groups }: Pick<ClusterDigest, 'groups'>) =>
    groups.map(({ source, isNew, isNewUnknown }) => [source, isNewUnknown ? 'unknown' : isNew]).sort();

  it('only if no member has an older record of it, also not before the time range', async () => {
    const states = {
      a: nodeLogging({ early: [80], inside: [80], fresh: [80] }),
      b: nodeLogging({ early: [10], inside: [60, 80], fresh: [75] }),
    };
    const digest = await clusterDigest(fakeDeps({ states }), request);
    expect(judged(digest)).toEqual([
      ['early', false],
      ['fresh', true],
      ['inside', false],
    ]);
    expect(digest.baseline).toEqual({ fromMs: 10, isComplete: true });
    expect(digest.groups.find(({ source }) => source === 'early')).toMatchObject({ count: 1, nodes: { a: 1 } });
    const onlyNew = await clusterDigest(fakeDeps({ states }), { ...request, onlyNew: true });
    expect([judged(onlyNew), onlyNew.totalGroups]).toEqual([[['fresh', true]], 1]);
  });

  it('by the clock of each member', async () => {
    const deps = fakeDeps({
      states: { a: nodeLogging({ x: [1080], y: [1069, 1080] }) },
      clocks: { a: { offsetMs: 1000, uncertaintyMs: 1 } },
    });
    expect(judged(await clusterDigest(deps, request))).toEqual([
      ['x', true],
      ['y', false],
    ]);
  });

  const stopped = { end: { ...END, reason: 'time budget' as const } };
  it.each<[string, NodeState, string]>([
    ['does not respond', fakeNode({ logDigest: hang }), 'b: no response'],
    ['cannot', fakeNode(), 'b: '],
    ['was stopped', nodeLogging({ old: [10] }, stopped), 'b: scan stopped: time budget'],
    ['fails when asked for the past', failingForPast(), 'b: gone'],
  ])('not known to be, if a member %s', async (_what, b, detail) => {
    const states = { a: nodeLogging({ x: [80], old: [10, 80] }), b };
    const digest = await clusterDigest(fakeDeps({ states, timeoutMs: 50 }), request);
    expect(judged(digest)).toEqual([
      ['old', false],
      ['x', 'unknown'],
    ]);
    expect(digest.baseline).toMatchObject({ isComplete: false, detail: expect.stringContaining(detail) });
    const { outcome, isPartial = false } = digest.members[1] ?? {};
    expect(outcome !== 'ok' || isPartial).toBe(true);
    const onlyNew = await clusterDigest(fakeDeps({ states, timeoutMs: 50 }), { ...request, onlyNew: true });
    expect(judged(onlyNew)).toEqual([['x', 'unknown']]);
  });

  it('not because a member says so that compared with the time range only', async () => {
    const states = { a: nodeLogging({ early: [10, 80], x: [80] }, { baseline: undefined as never, ...stopped }) };
    expect(judged(await clusterDigest(fakeDeps({ states }), request))).toEqual([
      ['early', false],
      ['x', 'unknown'],
    ]);
  });

  it('and is found among more old ones than a node returns', async () => {
    const old = Object.fromEntries(Array.from({ length: 1200 }, (_, place) => [`old:${place}`, [10, 80, 81]]));
    const states = { a: nodeLogging({ ...old, fresh: [80] }) };
    const digest = await clusterDigest(fakeDeps({ states }), { ...request, onlyNew: true });
    expect(judged(digest)).toEqual([['fresh', true]]);
    // Another member may have it among those it has not returned.
    const two = { ...states, b: nodeLogging(old) };
    expect(judged(await clusterDigest(fakeDeps({ states: two }), { ...request, onlyNew: true }))).toEqual([
      ['fresh', 'unknown'],
    ]);
  });
});

function failingForPast(): NodeState {
  return fakeNode({
    async logDigest({ fromMs }) {
      if (fromMs === undefined) throw new PortholeError('UNREACHABLE', 'gone');
      return { groups: [], totalGroups: 0, ungrouped: 0, end: END };
    },
  });
}

it.each([
  ['never answers', fakeNode({ logDigest: hang }), 'timeout'],
  ['cannot', fakeNode(), 'not supported'],
  ['sends groups without a sample', nodeWith([group({ sample: null as never })]), 'version'],
  ['sends invalid counts', nodeWith([group({ count: Number.NaN })]), 'version'],
])('a member that %s is reported and the others are counted', async (_what, odd, outcome) => {
  const deps = fakeDeps({ states: { a: nodeWith([group()]), odd }, timeoutMs: 50 });
  const { groups, members } = await clusterDigest(deps, { limit: 10 });
  expect(groups).toHaveLength(1);
  expect(members[1]).toMatchObject({ id: 'odd', outcome, count: 0 });
});
