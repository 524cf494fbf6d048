import type { ClusterHistogram, MemberReport } from '@porthole/client';
import { expect, test } from 'vitest';
import { errorStrip, errorsText, rises, stripRange, sumCells, widerCells } from './error-counts.ts';

test('cells are whole units of the clock, and the last one contains the end', () => {
  const toMs = Date.UTC(2026, 10, 15, 10, 41, 6);
  expect(stripRange({ fromMs: toMs - 3_600_000, toMs })).toEqual({
    ...{ fromMs: Date.UTC(2026, 10, 15, 9, 42), toMs: Date.UTC(2026, 10, 15, 10, 42), bucketMs: 60_000, count: 60 },
  });
  expect(stripRange({ fromMs: toMs - 7 * 86_400_000, toMs }).bucketMs).toBe(3 * 3_600_000);
  expect(stripRange({ fromMs: toMs - 5000, toMs })).toMatchObject({ bucketMs: 1000, count: 60 });
});

test('only what was read is a number: nothing of a silent node, nothing after the end of one that is gone', () => {
  const member = (id: string, given: Partial<MemberReport> = {}): MemberReport => ({
    ...{ id, outcome: 'ok', detail: null, elapsedMs: 1, count: 1, asOfMs: null, ...given },
  });
  const histogram: ClusterHistogram = {
    ...{ bucketMs: 10, untimed: 0, counted: null },
    buckets: [
      { startMs: 0, counts: { ERROR: 3 }, nodes: { a: 2, c: 1 } },
      { startMs: 20, counts: { FATAL: 4 }, nodes: { a: 4 } },
    ],
    members: [member('a'), member('b', { outcome: 'timeout' }), member('c', { outcome: 'refused', asOfMs: 14 })],
  };
  const { byNode, most } = errorStrip({ fromMs: 0, toMs: 40, bucketMs: 10, count: 4 }, histogram);
  expect(Object.fromEntries(byNode)).toEqual({
    a: { cells: [2, 0, 4, 0], errors: 6 },
    b: { cells: [null, null, null, null], errors: 0 },
    c: { cells: [1, 0, null, null], errors: 1 },
  });
  expect(most).toBe(4);
});

test('what was not counted of one node does not show as none, and leaves the others as they are', () => {
  const all = { outcome: 'ok', detail: null, elapsedMs: 1, count: 1, asOfMs: null } as const;
  const histogram: ClusterHistogram = {
    ...{ bucketMs: 10, untimed: 0, counted: { fromMs: 20, toMs: 24 } },
    buckets: [{ startMs: 0, counts: { ERROR: 3 }, nodes: { a: 2, late: 1 } }],
    members: [
      { ...all, id: 'a' },
      { ...all, id: 'late', isPartial: true, coveredFromMs: 0, coveredToMs: 14 },
      // Recorded from 20 on, and lost at 33.
      { ...all, id: 'recorded', outcome: 'timeout', asOfMs: 33, coveredFromMs: 20, coveredToMs: 33 },
      { ...all, id: 'unrecorded', outcome: 'timeout', asOfMs: 33, coveredFromMs: null, coveredToMs: null },
    ],
  };
  const { byNode } = errorStrip({ fromMs: 0, toMs: 40, bucketMs: 10, count: 4 }, histogram);
  expect(Object.fromEntries([...byNode].map(([id, { cells }]) => [id, cells]))).toEqual({
    a: [2, 0, 0, 0],
    late: [1, 0, null, null],
    recorded: [null, null, 0, 0],
    unrecorded: [null, null, null, null],
  });
});

test('cells of several nodes are one, and several cells are one, unknown only if all of them are', () => {
  const [a, b] = [
    { cells: [1, null, 0, null, 2], errors: 3 },
    { cells: [2, 4, null, null, 0], errors: 6 },
  ];
  expect(sumCells([a, b])).toEqual({ cells: [3, 4, 0, null, 2], errors: 9 });
  expect(widerCells(a, 2)).toEqual({ cells: [1, 0, 2], errors: 3 });
  expect(widerCells({ cells: [1, null, null, null], errors: 1 }, 2).cells).toEqual([1, null]);
});

test('"none" is said only if everything was read', () => {
  const said = (cells: (number | null)[], errors = 0) => errorsText({ cells, errors });
  expect([
    said([0, 0]),
    said([0, null]),
    said([null]),
    said([2, 0], 2),
    said([1, null], 1),
    errorsText(undefined),
  ]).toEqual([
    'no errors',
    'no errors found',
    'errors not counted',
    '2 errors',
    'at least 1 error',
    'errors not counted',
  ]);
});

test('errors rise where a cell is far above the known ones before it', () => {
  const of = (cells: (number | null)[]) =>
    rises({
      range: { fromMs: 1000, toMs: 1600, bucketMs: 10, count: 60 },
      byNode: new Map([['a', { cells, errors: 1 }]]),
      most: 1,
      members: [],
    });
  const usual = Array<number>(10).fill(2);
  expect(of([...usual, 3, 18, 90])).toEqual([{ node: 'a', timeMs: 1110 }]);
  expect(of([...usual, 15, 15, 15])).toEqual([]);
  expect(of([...Array(10).fill(0), 9])).toEqual([]);
  expect(of([...Array(10).fill(null), 0, 90])).toEqual([]);
});
