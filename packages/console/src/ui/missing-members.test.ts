import type { MemberReport } from '@porthole/client';
import { expect, test } from 'vitest';
import { missingMembers } from './missing-members.ts';

const report = (id: string, given: Partial<MemberReport> = {}): MemberReport => ({
  id,
  outcome: 'ok',
  detail: null,
  elapsedMs: 1,
  count: 1,
  asOfMs: null,
  ...given,
});

test('reports members that failed or are incomplete, with the reason', () => {
  const members = [
    report('a'),
    report('b', { outcome: 'refused', detail: 'connect ECONNREFUSED' }),
    report('c', { detail: 'scan stopped: time budget', isPartial: true }),
    report('d', { detail: 'no such log' }),
  ];
  expect(missingMembers(members)).toEqual([
    { id: 'b', why: 'no connection', detail: 'connect ECONNREFUSED' },
    { id: 'c', why: 'scan stopped: time budget', detail: 'scan stopped: time budget' },
  ]);
});
