import type { MemberReport } from '@porthole/client';
import { expect, it } from 'vitest';
import { reduce } from './reduce.ts';
import { INITIAL, type RequestKind, type WorkspaceState } from './workspace-state.ts';

type Outcome = MemberReport['outcome'];

/** The state after the members have reported on a request. */
function report(state: WorkspaceState, kind: RequestKind, outcomes: Readonly<Record<string, Outcome>>): WorkspaceState {
  const reports = Object.entries(outcomes).map(
    ([id, outcome]): MemberReport => ({ id, outcome, detail: null, elapsedMs: 0, count: 0, asOfMs: null }),
  );
  return reduce(state, { type: 'members-reported', kind, reports });
}

const outcomes = ({ members }: WorkspaceState) => members.map(({ id, outcome }) => `${id} ${outcome}`);

it('a member without records is reported until it returns some', () => {
  const first = report(INITIAL, 'page', { b: 'ok', a: 'timeout' });
  expect(outcomes(first)).toEqual(['a timeout', 'b ok']);
  const followed = report(first, 'follow', { a: 'ok' });
  expect(outcomes(followed)).toEqual(['a timeout', 'b ok']);
  const counted = report(followed, 'count', { a: 'ok', b: 'ok' });
  expect(outcomes(counted)).toEqual(['a timeout', 'b ok']);
  expect(outcomes(report(counted, 'page', { a: 'ok' }))).toEqual(['a ok', 'b ok']);
});

it('a member lost while following is reported until it is followed again', () => {
  const loaded = report(INITIAL, 'page', { a: 'ok' });
  const lost = report(loaded, 'follow', { a: 'refused' });
  expect(outcomes(lost)).toEqual(['a refused']);
  expect(outcomes(report(lost, 'page', { a: 'ok' }))).toEqual(['a refused']);
  expect(outcomes(report(lost, 'follow', { a: 'ok' }))).toEqual(['a ok']);
});
