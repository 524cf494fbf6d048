import type { ConfigDifference, ConfigValue } from '@porthole/client';
import { expect, test } from 'vitest';
import { driftRows } from './node-settings.tsx';

const value = (given: Partial<ConfigValue>): ConfigValue => ({
  value: '5s',
  nodes: [],
  isMajority: false,
  isSameMeaning: false,
  ...given,
});

const diff = (differences: ConfigDifference[]) => ({
  roles: [{ role: 'broker', nodes: ['a', 'b', 'c'], comparedKeys: 9, notCompared: [], differences }],
  members: [],
});

test('a key has its majority value and the nodes that differ', () => {
  const values = [value({ nodes: ['a', 'b'], isMajority: true }), value({ value: '30s', nodes: ['c'] })];
  expect(driftRows(diff([{ key: 'query.timeout', secret: false, isExpected: false, values }]))).toEqual([
    { role: 'broker', key: 'query.timeout', most: '5s', others: 2, outliers: [{ value: '30s', nodes: ['c'] }] },
  ]);
});

test('expected differences and different spellings are not drift', () => {
  const differing = [value({ isMajority: true }), value({ value: 1 })];
  const same = [value({ isMajority: true }), value({ value: '5000ms', isSameMeaning: true })];
  const differences = [
    { key: 'port', secret: false, isExpected: true, values: differing },
    { key: 'timeout', secret: false, isExpected: false, values: same },
  ];
  expect(driftRows(diff(differences))).toEqual([]);
});

test('a key missing on a node is reported', () => {
  const values = [value({ isMajority: true, nodes: ['a', 'b'] }), value({ value: null, nodes: ['c'] })];
  const [row] = driftRows(diff([{ key: 'k', secret: false, isExpected: false, values }]));
  expect(row?.outliers).toEqual([{ value: 'absent', nodes: ['c'] }]);
});
