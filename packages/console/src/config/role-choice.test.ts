import type { ClusterConfigDiff, ConfigDifference, MemberReport } from '@porthole/client';
import { expect, it } from 'vitest';
import { chooseRole, countDrift, silentNodes } from './role-choice.ts';

const difference = (key: string, fields: { isExpected?: boolean; isSameMeaning?: boolean } = {}): ConfigDifference => ({
  key,
  secret: false,
  isExpected: fields.isExpected ?? false,
  values: [
    { value: 1, nodes: ['a'], isMajority: true, isSameMeaning: false },
    { value: 2, nodes: ['b'], isMajority: false, isSameMeaning: fields.isSameMeaning ?? false },
  ],
});

const report = (id: string): MemberReport => ({
  id,
  outcome: 'ok',
  detail: null,
  elapsedMs: 0,
  count: 0,
  asOfMs: null,
});

const role = (name: string, differences: ConfigDifference[]) => ({
  role: name,
  nodes: ['a', 'b'],
  comparedKeys: 1,
  notCompared: [],
  differences,
});

const diff: ClusterConfigDiff = {
  roles: [role('broker', []), role('root', [difference('x')]), role('storage', [difference('x'), difference('y')])],
  members: ['a', 'b', 'c', 'd'].map(report),
};

it('only real differences count', () => {
  expect(
    countDrift({
      differences: [difference('x'), difference('p', { isExpected: true }), difference('t', { isSameMeaning: true })],
    }),
  ).toBe(1);
});

it('the role with the most differences is shown unless another is asked for', () => {
  expect(chooseRole(diff, null)?.role).toBe('storage');
  expect(chooseRole(diff, 'broker')?.role).toBe('broker');
  expect(chooseRole(diff, 'no such role')?.role).toBe('storage');
  expect(chooseRole({ roles: [], members: [] }, null)).toBe(undefined);
});

it('members of the role that have not been compared are silent', () => {
  const nodes = [
    { id: 'c', role: 'storage' },
    { id: 'd', role: 'broker' },
  ];
  expect(silentNodes(role('storage', []), diff, nodes)).toEqual(['c']);
});
