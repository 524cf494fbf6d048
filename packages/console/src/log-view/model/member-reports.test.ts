import type { MemberReport } from '@porthole/client';
import { expect, it } from 'vitest';
import { MemberReports } from './member-reports.ts';

const report = (id: string, outcome: MemberReport['outcome']): MemberReport => ({
  id,
  outcome,
  detail: null,
  elapsedMs: 0,
  count: 0,
  asOfMs: null,
});

const outcomes = (members: readonly MemberReport[]) => members.map(({ id, outcome }) => `${id} ${outcome}`);

it('a member without records is reported until it returns some', () => {
  const reports = new MemberReports();
  expect(outcomes(reports.note('page', [report('b', 'ok'), report('a', 'timeout')]))).toEqual(['a timeout', 'b ok']);
  expect(outcomes(reports.note('follow', [report('a', 'ok')]))).toEqual(['a timeout', 'b ok']);
  expect(outcomes(reports.note('count', [report('a', 'ok'), report('b', 'ok')]))).toEqual(['a timeout', 'b ok']);
  expect(outcomes(reports.note('page', [report('a', 'ok')]))).toEqual(['a ok', 'b ok']);
});

it('a member lost while following is reported until it is followed again', () => {
  const reports = new MemberReports();
  reports.note('page', [report('a', 'ok')]);
  expect(outcomes(reports.note('follow', [report('a', 'refused')]))).toEqual(['a refused']);
  expect(outcomes(reports.note('page', [report('a', 'ok')]))).toEqual(['a refused']);
  expect(outcomes(reports.note('follow', [report('a', 'ok')]))).toEqual(['a ok']);
});
