import { expect, it } from 'vitest';
import { addBuckets, mergeBuckets, mergeTop, sharedRange } from './merge-counts.ts';

it('counts are added up in common buckets, in the order of time, by the common clock', () => {
  const merged = mergeBuckets(
    [
      {
        id: 'a',
        offsetAt: () => 0,
        histogram: { bucketMs: 10, buckets: [{ startMs: 20, counts: { INFO: 2, NONE: 1 } }] },
      },
      {
        id: 'b',
        offsetAt: () => 7,
        histogram: {
          bucketMs: 5,
          buckets: [
            { startMs: 10, counts: { INFO: 1 } },
            { startMs: 30, counts: { INFO: 4 } },
          ],
        },
      },
    ],
    { bucketMs: 10 },
  );
  expect(merged).toEqual([
    { startMs: 0, counts: { INFO: 1 }, nodes: { b: 1 } },
    { startMs: 20, counts: { INFO: 6, NONE: 1 }, nodes: { a: 3, b: 4 } },
  ]);
});

it('the first and the last bucket of the range take what the clock moved out of it', () => {
  const buckets = [0, 10, 20].map((startMs) => ({ startMs, counts: { INFO: 1 } }));
  const merged = mergeBuckets([{ id: 'a', offsetAt: () => 0, histogram: { bucketMs: 10, buckets } }], {
    bucketMs: 10,
    fromMs: 10,
    toMs: 15,
  });
  expect(merged).toEqual([{ startMs: 10, counts: { INFO: 3 }, nodes: { a: 3 } }]);
});

it('the counted range is that of all', () => {
  expect(sharedRange([null, null])).toBeNull();
  expect(sharedRange([null, { fromMs: 1, toMs: 9 }, { fromMs: 3, toMs: 10 }])).toEqual({ fromMs: 3, toMs: 9 });
});

it('counts of several nodes keep what each node has, and those of one are its own whatever it says', () => {
  const part = (id: string | null, startMs: number) => ({
    id,
    offsetAt: () => 0,
    histogram: { bucketMs: 10, buckets: [{ startMs, counts: { INFO: 3 }, nodes: { a: 1, b: 2 } }] },
  });
  expect(mergeBuckets([part(null, 0), part('c', 0)], { bucketMs: 10 })).toEqual([
    { startMs: 0, counts: { INFO: 6 }, nodes: { a: 1, b: 2, c: 3 } },
  ]);
  const value = { value: 'x', count: 3, nodes: { a: 1, b: 2 }, buckets: [{ startMs: 0, count: 3 }] };
  const top = { values: [value], others: 0, missing: 0, distinct: 1, isExact: true };
  const tops = [null, 'c'].map((id) => ({ id, offsetAt: () => 0, top }));
  const { values } = mergeTop(tops, { limit: 5, areGiven: false });
  expect(values).toEqual([{ value: 'x', count: 6, nodes: { a: 1, b: 2, c: 3 } }]);
  expect(addBuckets(values, tops, { bucketMs: 10 })[0]?.buckets).toEqual([{ startMs: 0, count: 6 }]);
});
