import type { NodeState } from '@porthole/contract';
import type { Top, TopQuery } from '@porthole/logs/types';
import { describe, expect, it } from 'vitest';
import { fakeDeps } from '../testing/fake-deps.ts';
import { end, fakeNode, hang } from '../testing/fake-node.ts';
import { clusterTop } from './cluster-top.ts';

const { type: _type, cursor: _cursor, ...END } = end();

const RANGE = { fromMs: 0, toMs: 600_000 };

/** A node with records at these times of its own, each with a value. */
function nodeWith(records: readonly (readonly [timeMs: number, value: string])[], asked: TopQuery[] = []): NodeState {
  return fakeNode({
    async logTop(query) {
      asked.push(query);
      const { fromMs = -Infinity, toMs = Infinity, bucketMs, limit, values: given } = query;
      const inside = records.filter(([timeMs]) => timeMs >= fromMs && timeMs < toMs);
      const all = [...new Set(inside.map(([, value]) => value))]
        .map((value) => ({ value, own: inside.filter((record) => record[1] === value) }))
        .sort((a, b) => b.own.length - a.own.length || (a.value < b.value ? -1 : 1));
      const listed = all.filter(({ value }) => given?.includes(value) ?? true).slice(0, limit);
      return {
        by: query.by,
        values: listed.map(({ value, own }) => ({
          value,
          count: own.length,
          ...(bucketMs !== undefined && {
            buckets: inBuckets(
              own.map(([timeMs]) => timeMs),
              bucketMs,
            ),
          }),
        })),
        others: inside.length - listed.reduce((sum, { own }) => sum + own.length, 0),
        missing: 2,
        distinct: all.length,
        isExact: true,
        ...(bucketMs !== undefined && { bucketMs }),
        end: END,
      };
    },
  });
}

function inBuckets(times: readonly number[], bucketMs: number) {
  const starts = times.map((timeMs) => Math.floor(timeMs / bucketMs) * bucketMs);
  return [...new Set(starts)]
    .sort((a, b) => a - b)
    .map((startMs) => ({ startMs, count: starts.filter((start) => start === startMs).length }));
}

it('counts of all are added, with the share of each member; more values are requested than returned', async () => {
  const asked: TopQuery[] = [];
  const a = nodeWith(
    [
      [0, '13'],
      [1, '13'],
      [2, '7'],
    ],
    asked,
  );
  const deps = fakeDeps({
    states: {
      a,
      b: nodeWith([
        [0, '7'],
        [1, '7'],
        [2, '9'],
      ]),
    },
  });
  expect(await clusterTop(deps, { by: 'shard', limit: 2, nodes: ['*'] })).toEqual({
    by: 'shard',
    values: [
      { value: '7', count: 3, nodes: { a: 1, b: 2 } },
      { value: '13', count: 2, nodes: { a: 2 } },
    ],
    others: 1,
    missing: 4,
    distinct: 3,
    isExact: true,
    counted: null,
    members: [expect.objectContaining({ id: 'a', count: 3 }), expect.objectContaining({ id: 'b', count: 3 })],
  });
  expect(asked).toEqual([{ by: 'shard', limit: 10_000 }]);
});

it('over time the most frequent values are requested again by name, by the clock of each member', async () => {
  const asked: TopQuery[] = [];
  const records = [
    [1000, '13'],
    [61_000, '13'],
    [61_000, '7'],
    [5000, '9'],
  ] as const;
  const shifted = records.map(([timeMs, value]) => [timeMs + 3000, value] as const);
  const deps = fakeDeps({
    states: { a: nodeWith(records), b: nodeWith(shifted, asked) },
    clocks: { b: { offsetMs: 3000, uncertaintyMs: 1 } },
  });
  const top = await clusterTop(deps, { ...RANGE, by: 'shard', limit: 1, buckets: 10 });
  expect(top).toMatchObject({
    bucketMs: 60_000,
    values: [
      {
        value: '13',
        count: 4,
        buckets: [
          { startMs: 0, count: 2 },
          { startMs: 60_000, count: 2 },
        ],
      },
    ],
    others: 4,
  });
  const range = { fromMs: 3000, toMs: 603_000, by: 'shard' };
  expect(asked).toEqual([
    { ...range, limit: 10_000 },
    { ...range, limit: 1, values: ['13'], bucketMs: 3000 },
  ]);
});

it('counts that were lower bounds are replaced by those of the second request', async () => {
  const estimated = nodeWith([
    [0, 'x'],
    [1, 'x'],
    [2, 'y'],
  ]);
  const { logTop } = estimated;
  const a = fakeNode({
    async logTop(query, options) {
      const top = await logTop(query, options);
      if (query.values) return top;
      return { ...top, isExact: false, values: [{ value: 'x', count: 1, error: 1 }], others: 2 };
    },
  });
  const deps = fakeDeps({ states: { a, b: nodeWith([[0, 'x']]) } });
  const query = { ...RANGE, by: 'shard', limit: 5 };
  expect(await clusterTop(deps, query)).toMatchObject({ values: [{ count: 2, error: 1 }], others: 2, isExact: false });
  const { values, others, isExact } = await clusterTop(deps, { ...query, buckets: 1 });
  expect(values).toEqual([{ value: 'x', count: 3, nodes: { a: 2, b: 1 }, buckets: [{ startMs: 0, count: 3 }] }]);
  expect({ others, isExact }).toEqual({ others: 1, isExact: false });
});

describe('a member that', () => {
  const odd = (given: object) => {
    const top: Top = { by: 'shard', values: [], others: 0, missing: 0, distinct: 0, isExact: true, end: END };
    return fakeNode({ logTop: async () => ({ ...top, ...given }) });
  };

  it.each([
    ['has no such route', fakeNode(), 'not supported'],
    ['never responds', fakeNode({ logTop: hang }), 'timeout'],
    ['counts less than nothing', odd({ values: [{ value: 'x', count: -1 }] }), 'version'],
    ['lists what is no text', odd({ values: [{ value: 1, count: 1 }] }), 'version'],
    ['counts others as text', odd({ others: '5' }), 'version'],
  ])('%s is reported and not added', async (_what, state, outcome) => {
    const deps = fakeDeps({ states: { a: nodeWith([[0, 'x']]), odd: state }, timeoutMs: 50 });
    const { values, members } = await clusterTop(deps, { ...RANGE, by: 'shard', limit: 10 });
    expect(values).toEqual([{ value: 'x', count: 1, nodes: { a: 1 } }]);
    expect(members[1]).toMatchObject({ outcome, count: 0 });
  });

  it('ran out of time is reported as partial, with the range that all have counted', async () => {
    const covered = { reason: 'time budget', coveredFromMs: 1000, coveredToMs: 2000 } as const;
    const deps = fakeDeps({ states: { a: nodeWith([[0, 'x']]), b: odd({ end: { ...END, ...covered } }) } });
    const { counted, members } = await clusterTop(deps, { ...RANGE, by: 'shard', limit: 10 });
    expect(counted).toEqual({ fromMs: 1000, toMs: 2000 });
    expect(members[1]).toMatchObject({ outcome: 'ok', isPartial: true, detail: 'scan stopped: time budget' });
  });
});
