import { expect, it } from 'vitest';
import { mergeBuckets } from './merge-counts.ts';

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
