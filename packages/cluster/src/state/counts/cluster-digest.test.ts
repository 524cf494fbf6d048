import type { NodeState } from '@porthole/contract';
import type { DigestGroup, DigestQuery } from '@porthole/logs/types';
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

describe('a group is new', () => {
  const states = {
    a: nodeWith([group({ source: 'x', isNew: true }), group({ source: 'y', isNew: true })]),
    b: nodeWith([group({ source: 'x', isNew: false })]),
  };

  it('only if it is new to each member that has it', async () => {
    const { groups } = await clusterDigest(fakeDeps({ states }), { limit: 10, newSinceMs: 7 });
    expect(groups.map(({ source, isNew }) => [source, isNew])).toEqual([
      ['x', false],
      ['y', true],
    ]);
  });

  it('also when only new ones are requested', async () => {
    const { groups, totalGroups } = await clusterDigest(fakeDeps({ states }), {
      limit: 10,
      newSinceMs: 7,
      onlyNew: true,
    });
    expect(groups.map(({ source }) => source)).toEqual(['y']);
    expect(totalGroups).toBe(1);
  });

  it('and is found among more old ones than a node returns', async () => {
    const old = Array.from({ length: 1200 }, (_, place) => group({ source: `old:${place}`, count: 9 }));
    const asked: DigestQuery[] = [];
    const deps = fakeDeps({
      states: { a: nodeWith([...old, group({ source: 'fresh', isNew: true })], asked) },
      clocks: { a: { offsetMs: 10, uncertaintyMs: 1 } },
    });
    const { groups } = await clusterDigest(deps, { limit: 10, newSinceMs: 7, onlyNew: true });
    expect(groups.map(({ source }) => source)).toEqual(['fresh']);
    expect(asked).toEqual([
      { limit: 1000, newSinceMs: 17 },
      { limit: 1000, newSinceMs: 17, onlyNew: true },
    ]);
  });
});

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
