import type { MemberReport } from '@porthole/client';
import { expect, it } from 'vitest';
import { addReports, type MemberReports, NO_REPORTS, worstReports } from './reports.ts';

const report = (id: string, outcome: MemberReport['outcome']): MemberReport => ({
  id,
  outcome,
  detail: null,
  elapsedMs: 0,
  count: 0,
  asOfMs: null,
});

const outcomes = (reports: MemberReports) => worstReports(reports).map(({ id, outcome }) => `${id} ${outcome}`);

it('a member without records is reported until it returns some', () => {
  const first = addReports(NO_REPORTS, 'page', [report('b', 'ok'), report('a', 'timeout')]);
  expect(outcomes(first)).toEqual(['a timeout', 'b ok']);
  const followed = addReports(first, 'follow', [report('a', 'ok')]);
  expect(outcomes(followed)).toEqual(['a timeout', 'b ok']);
  const counted = addReports(followed, 'count', [report('a', 'ok'), report('b', 'ok')]);
  expect(outcomes(counted)).toEqual(['a timeout', 'b ok']);
  expect(outcomes(addReports(counted, 'page', [report('a', 'ok')]))).toEqual(['a ok', 'b ok']);
});

it('a member lost while following is reported until it is followed again', () => {
  const loaded = addReports(NO_REPORTS, 'page', [report('a', 'ok')]);
  const lost = addReports(loaded, 'follow', [report('a', 'refused')]);
  expect(outcomes(lost)).toEqual(['a refused']);
  expect(outcomes(addReports(lost, 'page', [report('a', 'ok')]))).toEqual(['a refused']);
  expect(outcomes(addReports(lost, 'follow', [report('a', 'ok')]))).toEqual(['a ok']);
});
