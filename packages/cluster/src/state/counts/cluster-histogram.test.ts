import type { NodeState } from '@porthole/contract';
import type { Histogram, HistogramQuery } from '@porthole/logs/types';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeDeps } from '../testing/fake-deps.ts';
import { end, fakeNode, file, hang } from '../testing/fake-node.ts';
import { clusterHistogram } from './cluster-histogram.ts';

const { type: _type, cursor: _cursor, ...END } = end();

/** A node whose log holds INFO records at these times of its own. */
function nodeAt(times: readonly number[], asked: HistogramQuery[] = []): NodeState {
  return fakeNode({
    logFiles: async () => [file({ firstTimeMs: Math.min(...times), lastTimeMs: Math.max(...times) })],
    async logHistogram(query) {
      asked.push(query);
      const { fromMs = -Infinity, toMs = Infinity, bucketMs = 1 } = query;
      const counts = new Map<number, number>();
      for (const timeMs of times) {
        if (timeMs < fromMs || timeMs >= toMs) continue;
        const startMs = Math.floor(timeMs / bucketMs) * bucketMs;
        counts.set(startMs, (counts.get(startMs) ?? 0) + 1);
      }
      const buckets = [...counts].sort(([a], [b]) => a - b).map(([startMs, INFO]) => ({ startMs, counts: { INFO } }));
      return { bucketMs, buckets, untimed: 1, end: END };
    },
  });
}

const RANGE = { fromMs: 0, toMs: 600_000, buckets: 10 };

it('counts of all are added in one grid, with the share of each member', async () => {
  const deps = fakeDeps({ states: { a: nodeAt([1000, 61_000]), b: nodeAt([2000]) } });
  expect(await clusterHistogram(deps, RANGE)).toMatchObject({
    bucketMs: 60_000,
    buckets: [
      { startMs: 0, counts: { INFO: 2 }, nodes: { a: 1, b: 1 } },
      { startMs: 60_000, counts: { INFO: 1 }, nodes: { a: 1 } },
    ],
    untimed: 2,
    members: [
      { id: 'a', outcome: 'ok', count: 3 },
      { id: 'b', outcome: 'ok', count: 2 },
    ],
  });
});

it('all are queried in their own time; those whose clock is off in narrower ranges', async () => {
  const [right, off]: [HistogramQuery[], HistogramQuery[]] = [[], []];
  const deps = fakeDeps({
    states: { a: nodeAt([1000], right), b: nodeAt([1000], off) },
    clocks: { b: { offsetMs: 1234.4, uncertaintyMs: 2 } },
  });
  await clusterHistogram(deps, { ...RANGE, nodes: ['*'], terms: ['x'] });
  expect(right).toEqual([{ ...RANGE, terms: ['x'], bucketMs: 60_000 }]);
  expect(off).toEqual([{ fromMs: 1234, toMs: 601_234, buckets: 10, terms: ['x'], bucketMs: 3000 }]);
});

it('without a range the width comes from what the files of all cover', async () => {
  const deps = fakeDeps({ states: { a: nodeAt([0, 1000]), b: nodeAt([500_000, 600_000]), c: fakeNode() } });
  const { bucketMs, members } = await clusterHistogram(deps, { buckets: 10 });
  expect(bucketMs).toBe(60_000);
  expect(members[2]).toMatchObject({ id: 'c', outcome: 'not supported' });
});

describe('a member that', () => {
  const odd = (given: Partial<Histogram>) =>
    fakeNode({ logHistogram: async () => ({ bucketMs: 60_000, buckets: [], untimed: 0, end: END, ...given }) });

  it.each([
    ['counts in other stretches', odd({ bucketMs: 7 }), 'version'],
    ['counts less than nothing', odd({ buckets: [{ startMs: 0, counts: { INFO: -1 } }] }), 'version'],
    ['counts what is no level', odd({ buckets: [{ startMs: 0, counts: { __proto__x: 1 } as never }] }), 'version'],
    ['sends an invalid time', odd({ buckets: [{ startMs: Number.NaN, counts: { INFO: 1 } }] }), 'version'],
    ['never answers', fakeNode({ logHistogram: hang }), 'timeout'],
  ])('%s is reported and not added', async (_what, state, outcome) => {
    const deps = fakeDeps({ states: { a: nodeAt([1000]), odd: state }, timeoutMs: 50 });
    const { buckets, members } = await clusterHistogram(deps, RANGE);
    expect(buckets).toEqual([{ startMs: 0, counts: { INFO: 1 }, nodes: { a: 1 } }]);
    expect(members[1]).toMatchObject({ outcome, count: 0 });
  });

  it('could not scan everything is reported as partial', async () => {
    const deps = fakeDeps({ states: { a: odd({ end: { ...END, reason: 'time budget' } }) } });
    expect((await clusterHistogram(deps, RANGE)).members).toMatchObject([
      { outcome: 'ok', detail: 'scan stopped: time budget' },
    ]);
  });

  it('could not scan everything says which part it has counted, by the clock of this node; nothing else is in question', async () => {
    const cut = (covered: Partial<Histogram['end']>) =>
      odd({ bucketMs: 1000, end: { ...END, reason: 'time budget', ...covered } });
    const deps = fakeDeps({
      states: {
        a: nodeAt([1000]),
        b: cut({ coveredFromMs: 1000, coveredToMs: 2000 }),
        c: cut({ coveredFromMs: null }),
      },
      clocks: { b: { offsetMs: 1000, uncertaintyMs: 2 } },
    });
    const { members } = await clusterHistogram(deps, { ...RANGE, bucketMs: 1000 });
    expect(members.map(({ coveredFromMs, coveredToMs }) => [coveredFromMs, coveredToMs])).toEqual([
      [undefined, undefined],
      [0, 1000],
      [null, null],
    ]);
  });

  it('is called like what every object has is counted', async () => {
    const states = Object.fromEntries([['__proto__', nodeAt([1000])]]);
    const { buckets } = await clusterHistogram(fakeDeps({ states }), RANGE);
    expect(Object.entries(buckets[0]?.nodes ?? {})).toEqual([['__proto__', 1]]);
  });
});

it('whatever the clocks, nothing is lost, nothing leaves the range, and all is within half a stretch of its place', async () => {
  const times = fc.array(fc.integer({ min: 0, max: 599_999 }), { minLength: 1, maxLength: 30 });
  const offset = fc.integer({ min: -10_000_000, max: 10_000_000 });
  const member = fc.tuple(times, offset);
  await fc.assert(
    fc.asyncProperty(fc.array(member, { minLength: 1, maxLength: 4 }), async (members) => {
      const named = members.map(([at, offsetMs], place) => ({ id: `n${place}`, at, offsetMs }));
      const deps = fakeDeps({
        states: Object.fromEntries(named.map(({ id, at, offsetMs }) => [id, nodeAt(at.map((ms) => ms + offsetMs))])),
        clocks: Object.fromEntries(named.map(({ id, offsetMs }) => [id, { offsetMs, uncertaintyMs: 0 }])),
      });
      const { buckets, bucketMs } = await clusterHistogram(deps, RANGE);
      const starts = buckets.map(({ startMs }) => startMs);
      expect(starts).toEqual(starts.toSorted((a, b) => a - b));
      expect(starts.every((ms) => ms % bucketMs === 0 && ms >= 0 && ms < 600_000)).toBe(true);
      for (const { id, at } of named) {
        const counted = buckets.flatMap(({ startMs, nodes }) => new Array<number>(nodes[id] ?? 0).fill(startMs));
        expect(counted).toHaveLength(at.length);
        // In order, so that the first returned is the first that exists.
        for (const [place, timeMs] of at.toSorted((a, b) => a - b).entries()) {
          const startMs = counted[place] ?? Number.NaN;
          expect(timeMs >= startMs - 1500 && timeMs <= startMs + bucketMs + 1500).toBe(true);
        }
      }
    }),
    { numRuns: runs(25) },
  );
});

it('where members ran out of time, what all of them have counted is returned, by our clock', async () => {
  const cut = (coveredFromMs: number | null, coveredToMs: number | null) =>
    fakeNode({
      logHistogram: async ({ bucketMs = 1 }) => {
        const covered = { reason: 'time budget', coveredFromMs, coveredToMs } as const;
        return { bucketMs, buckets: [], untimed: 0, end: { ...END, ...covered } };
      },
    });
  const whole = nodeAt([1000]);
  const states = { a: cut(100_000, 600_000), b: cut(201_000, 551_000), whole };
  const clocks = { b: { offsetMs: 1000, uncertaintyMs: 1 } };
  expect((await clusterHistogram(fakeDeps({ states, clocks }), RANGE)).counted).toEqual({
    fromMs: 200_000,
    toMs: 550_000,
  });
  expect((await clusterHistogram(fakeDeps({ states: { whole } }), RANGE)).counted).toBeNull();
  const nothing = await clusterHistogram(fakeDeps({ states: { a: cut(null, null) } }), RANGE);
  expect(nothing.counted).toEqual({ fromMs: 0, toMs: 0 });
});
