import type { ClusterHistogram, MemberReport } from '@porthole/client';
import { expect, test } from 'vitest';
import { sumColumns } from '../../ui/count-chart.tsx';
import { groupErrors, recentCounts } from './node-counts.ts';

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

test('a node that was not counted has no counts, and one of which a part was counted has at least that', () => {
  const members = [
    report('a', { outcome: 'timeout' }),
    report('b'),
    report('c', { detail: 'a.log could not be read', isPartial: true }),
    report('d', { outcome: 'gone', asOfMs: 5 }),
  ];
  // A record was written between the two responses.
  const all = histogram([{ startMs: 0, counts: { ERROR: 4, WARN: 1 }, nodes: { b: 2, c: 2, d: 1 } }], members);
  const errors = histogram(
    [
      { startMs: 0, counts: { ERROR: 4 }, nodes: { b: 1, c: 2, d: 1 } },
      { startMs: 15_000, counts: { FATAL: 1 }, nodes: { b: 1 } },
    ],
    members,
  );
  const { byNode, columns } = recentCounts({ range: RANGE, all, errors });
  expect([...byNode]).toEqual([
    ['b', { errors: 2, warnings: 1, isPartial: false }],
    ['c', { errors: 2, warnings: 0, isPartial: true }],
    ['d', { errors: 1, warnings: 0, isPartial: true }],
  ]);
  // What the chart, the table and the headline show adds up to the same.
  expect(sumColumns(columns)).toEqual({ errors: 5, warnings: 1 });
  expect(groupErrors(members, { byNode })).toEqual({ errors: 5, counted: 1 });
});
