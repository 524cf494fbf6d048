import type { ClusterConfigDiff, ConfigDifference, ConfigValue, SettingJson } from '@porthole/client';
import { describe, expect, it } from 'vitest';
import { chooseRole, countDrift, driftHeading, driftRows, firstPair, type RoleDiff, roleName } from './drift-rows.ts';

const value = (setting: SettingJson | null, nodes: string[], more: Partial<ConfigValue> = {}): ConfigValue => ({
  ...{ value: setting, nodes, isMajority: false, isSameMeaning: false },
  ...more,
});

const most = (setting: SettingJson | null, nodes: string[]) => value(setting, nodes, { isMajority: true });

const difference = (key: string, values: ConfigValue[], isExpected = false): ConfigDifference => ({
  ...{ key, secret: false, isExpected, values },
});

const roleDiff = (nodes: string[], differences: ConfigDifference[], more: Partial<RoleDiff> = {}): RoleDiff => ({
  ...{ role: 'storage', nodes, comparedKeys: 20, notCompared: [], differences },
  ...more,
});

const small = roleDiff(
  ['s1', 's2', 's3'],
  [
    difference('http.port', [most(1, ['s1']), value(2, ['s2']), value(3, ['s3'])], true),
    difference('wal.dir', [most('/data', ['s1', 's2']), value('/mnt', ['s3'])], true),
    difference('query.timeout', [most('30s', ['s2', 's3']), value('30000ms', ['s1'], { isSameMeaning: true })]),
    difference('tie', [most(1, ['s1']), value(2, ['s2'])]),
    difference('tsdb.flush', [most(2, ['s1', 's3']), value(8, ['s2'])]),
  ],
);

describe('keys that differ', () => {
  it('are outliers first, then those without a majority, then different spellings; expected ones are apart', () => {
    const { rows, expectedRows } = driftRows(small, '');
    expect(rows.map(({ key }) => key)).toEqual(['tsdb.flush', 'tie', 'query.timeout']);
    expect(expectedRows.map(({ key }) => key)).toEqual(['wal.dir', 'http.port']);
    expect(countDrift(small)).toBe(2);
  });

  it('have the value of most nodes and those of the others, each with a node to compare with', () => {
    const [flush, tie, timeout] = driftRows(small, '').rows;
    expect(flush?.majority).toMatchObject({ shown: { text: '2' }, count: 2 });
    expect(flush?.outliers).toMatchObject([{ shown: { text: '8' }, nodes: ['s2'], isUnusual: true, against: 's1' }]);
    expect(timeout?.outliers).toMatchObject([{ note: '≈ same', isUnusual: false }]);
    expect(tie?.majority).toBe(null);
    expect(tie?.outliers.map(({ nodes, against }) => [...nodes, against])).toEqual([
      ['s1', 's2'],
      ['s2', 's1'],
    ]);
  });

  it('are found by key or value', () => {
    expect(driftRows(small, 'FLU').rows.map(({ key }) => key)).toEqual(['tsdb.flush']);
    expect(driftRows(small, '/mnt').expectedRows.map(({ key }) => key)).toEqual(['wal.dir']);
  });

  it('say in words what is known of secrets, and do not take unknown ones for outliers', () => {
    const secret = difference('password', [
      value('****** (fingerprint f1)', ['b'], { isMajority: true }),
      value('****** (fingerprint f2)', ['a']),
      value('******', ['c', 'd'], { isNotCompared: true }),
    ]);
    const more = { notCompared: ['password'], withoutFingerprint: { password: ['c', 'd'] } };
    const found = driftRows(roleDiff(['a', 'b', 'c', 'd'], [secret], more), '');
    expect(found.notCompared).toEqual([{ key: 'password', nodes: ['c', 'd'] }]);
    expect(found.rows[0]?.outliers.map(({ note, isUnusual }) => [note, isUnusual])).toEqual([
      ['different secret', true],
      ['different secret', true],
      ['unknown: it reports no fingerprint', false],
    ]);
    expect(firstPair(found)).toEqual({ left: 'b', right: 'a' });
  });

  it('propose a pair: one that agrees with most, and the first outlier', () => {
    expect(firstPair(driftRows(small, ''))).toEqual({ left: 's1', right: 's2' });
    expect(firstPair({ rows: [] })).toBe(null);
  });
});

describe('texts', () => {
  const drifting = [difference('x', [most(1, ['a']), value(2, ['b'])])];

  it.each([
    [drifting, 2, 'node', '1 key differs among 2 nodes'],
    [[], 5, 'broker', 'No key differs among 5 broker nodes'],
    [[], 1, 'broker', 'Only 1 broker node'],
  ])('%#', (differences, nodes, role, words) => {
    const ids = Array.from({ length: nodes }, (_, n) => `n${n}`);
    expect(driftHeading(roleDiff(ids, differences, { role }))).toBe(words);
  });

  it('say that nothing differs only of what was compared, and within which label', () => {
    const more = { role: 'node', notCompared: ['db.secret'], label: 'zone=eu-1' };
    expect(driftHeading(roleDiff(['a', 'b'], [], more))).toBe(
      'No key that could be compared differs among 2 nodes with zone=eu-1',
    );
    expect(roleName({ role: 'broker', label: '' })).toBe('broker without label');
  });
});

it('chooses the role with the most differences by default', () => {
  const x = difference('x', [most(1, ['a']), value(2, ['b'])]);
  const diff: ClusterConfigDiff = {
    roles: [roleDiff(['a', 'b'], [], { role: 'broker' }), roleDiff(['a', 'b'], [x])],
    members: [],
  };
  const request = (name: string | null, group: string | null = null) => ({ role: name, group });
  expect(chooseRole(diff, request(null))?.role).toBe('storage');
  expect(chooseRole(diff, request('broker'))?.role).toBe('broker');
  expect(chooseRole(diff, request('no such role'))?.role).toBe('storage');
  expect(chooseRole({ roles: [], members: [] }, request(null))).toBe(undefined);
  const zones = ['zone=a', 'zone=b', ''].map((label) => roleDiff(['a'], [], { role: 'root', label }));
  const chosen = (group: string) => chooseRole({ roles: zones, members: [] }, request('root', group))?.label;
  expect([chosen('zone=b'), chosen(''), chosen('zone=x')]).toEqual(['zone=b', '', 'zone=a']);
});
