import type { ClusterHistogram, MemberReport } from '@porthole/client';
import { expect, test } from 'vitest';
import { groupErrors, recentCounts } from './recent-counts.ts';

const RANGE = { fromMs: 0, toMs: 30_000, bucketMs: 15_000 };

const report = (id: string, given: Partial<MemberReport> = {}): MemberReport => ({
  id,
  outcome: 'ok',
  detail: null,
  elapsedMs: 1,
  count: 1,
  asOfMs: null,
  ...given,
});

const histogram = (buckets: ClusterHistogram['buckets'], members: MemberReport[]): ClusterHistogram => ({
  bucketMs: 15_000,
  untimed: 0,
  counted: null,
  buckets,
  members,
});

test('the warnings of a node are its records minus its errors', () => {
  const members = [report('a'), report('b')];
  const all = histogram([{ startMs: 0, counts: { ERROR: 2, WARN: 5 }, nodes: { a: 6, b: 1 } }], members);
  const errors = histogram([{ startMs: 0, counts: { ERROR: 2 }, nodes: { a: 2 } }], members);
  const { byNode, columns } = recentCounts({ range: RANGE, all, errors });
  expect([...byNode]).toEqual([
    ['a', { errors: 2, warnings: 4 }],
    ['b', { errors: 0, warnings: 1 }],
  ]);
  expect(groupErrors([{ id: 'a' }, { id: 'b' }, { id: 'not counted' }], { byNode })).toEqual({ errors: 2, counted: 2 });
  expect(columns.map((column) => [column.errors, column.warnings])).toEqual([
    [2, 5],
    [0, 0],
  ]);
});

test('a node that was not counted has no counts, not zero', () => {
  const members = [
    report('a', { outcome: 'timeout' }),
    report('b'),
    report('c', { detail: 'a.log could not be read', isPartial: true }),
  ];
  const { byNode } = recentCounts({
    range: RANGE,
    all: histogram([], members),
    errors: histogram([], members),
  });
  expect([...byNode.keys()]).toEqual(['b']);
});
