import type {
  ClusterConfigDiff,
  ConfigDifference,
  ConfigValue,
  MemberReport,
  SettingEntry,
  SettingJson,
} from '@porthole/client';
import { describe, expect, it } from 'vitest';
import {
  chooseRole,
  countDrift,
  type DriftOptions,
  driftHeading,
  driftMatrix,
  expectedText,
  firstPair,
  outlierNodes,
  type RoleDiff,
  roleName,
  secretsText,
  silentNodes,
} from './drift-matrix.ts';
import { settingsByKey } from './setting-values.ts';

const value = (setting: SettingJson | null, nodes: string[], more: Partial<ConfigValue> = {}): ConfigValue => ({
  value: setting,
  nodes,
  isMajority: false,
  isSameMeaning: false,
  ...more,
});

const most = (setting: SettingJson | null, nodes: string[]) => value(setting, nodes, { isMajority: true });

const difference = (key: string, values: ConfigValue[], isExpected = false): ConfigDifference => ({
  key,
  secret: false,
  isExpected,
  values,
});

const roleDiff = (nodes: string[], differences: ConfigDifference[]): RoleDiff => ({
  role: 'storage',
  nodes,
  comparedKeys: 20,
  notCompared: ['db.secret'],
  differences,
});

const report = (id: string, fields: Partial<MemberReport> = {}): MemberReport => ({
  id,
  outcome: 'ok',
  detail: null,
  elapsedMs: 1,
  count: 1,
  asOfMs: null,
  ...fields,
});

const plain: DriftOptions = { text: '', members: [], silentNodes: [], settings: new Map() };

const small = roleDiff(
  ['s1', 's2', 's3'],
  [
    difference('http.port', [most(1, ['s1']), value(2, ['s2']), value(3, ['s3'])], true),
    difference('query.timeout', [most('30s', ['s2', 's3']), value('30000ms', ['s1'], { isSameMeaning: true })]),
    difference('tsdb.flush', [most(2, ['s1', 's3']), value(8, ['s2'])]),
    difference('wal', [most(null, ['s1', 's2']), value('****** (fingerprint 07c2ab)', ['s3'])]),
  ],
);

describe('the drift matrix', () => {
  it('lists drifting keys first, then different spellings, and keys expected to differ separately', () => {
    const matrix = driftMatrix(small, plain);
    expect(matrix.rows.map(({ key, isDrift }) => [key, isDrift])).toEqual([
      ['tsdb.flush', true],
      ['wal', true],
      ['query.timeout', false],
    ]);
    expect(matrix.expectedRows.map(({ key }) => key)).toEqual(['http.port']);
    expect(matrix.driftCount).toBe(2);
  });

  it('has cells only for nodes that differ from the majority', () => {
    const [flush, wal, timeout] = driftMatrix(small, plain).rows;
    expect([...(flush?.cells ?? [])]).toEqual([
      [
        's2',
        {
          shown: { text: '8', kind: 'value', fingerprint: null },
          isSameMeaning: false,
          isNotCompared: false,
          against: 's1',
        },
      ],
    ]);
    expect(flush?.majority?.text).toBe('2');
    expect(wal?.majority?.kind).toBe('absent');
    expect(wal?.cells.get('s3')?.shown).toEqual({ text: '******', kind: 'secret', fingerprint: '07c2ab' });
    expect(timeout?.cells.get('s1')?.isSameMeaning).toBe(true);
  });

  it('has a cell for every node if there is no majority', () => {
    const tie = driftMatrix(roleDiff(['a', 'b'], [difference('x', [most(1, ['a']), value(2, ['b'])])]), plain);
    expect(tie.rows[0]).toMatchObject({ majority: null, isDrift: true });
    expect([...(tie.rows[0]?.cells ?? [])].map(([node, { shown, against }]) => [node, shown.text, against])).toEqual([
      ['a', '1', 'b'],
      ['b', '2', 'a'],
    ]);
    expect(firstPair(tie)).toEqual({ left: 'a', right: 'b' });
    const [port] = driftMatrix(small, plain).expectedRows;
    expect(port).toMatchObject({ majority: null });
    expect([...(port?.cells.keys() ?? [])]).toEqual(['s1', 's2', 's3']);
  });

  it('keeps its count when keys are filtered', () => {
    const matrix = driftMatrix(small, { ...plain, text: 'FLU' });
    expect(matrix.rows.map(({ key }) => key)).toEqual(['tsdb.flush']);
    expect(matrix).toMatchObject({ driftCount: 2, expectedRows: [], notCompared: [] });
  });

  it('marks columns that are not current, and includes nodes without data', () => {
    const late = report('s3', { outcome: 'timeout', asOfMs: 5 });
    const members = [report('s1'), report('s2'), late, report('s4', { outcome: 'refused' })];
    expect(driftMatrix(small, { ...plain, members, silentNodes: ['s4'] }).columns).toEqual([
      { id: 's1', report: null, isSilent: false },
      { id: 's2', report: null, isSilent: false },
      { id: 's3', report: late, isSilent: false },
      { id: 's4', report: members[3], isSilent: true },
    ]);
  });

  it('folds nodes that agree with the majority when there are many', () => {
    const nodes = Array.from({ length: 40 }, (_, index) => `n${String(index).padStart(2, '0')}`);
    const others = nodes.filter((id) => id !== 'n07');
    const matrix = driftMatrix(roleDiff(nodes, [difference('a', [most(1, others), value(2, ['n07'])])]), plain);
    expect(matrix.columns.map(({ id }) => id)).toEqual(['n07']);
    expect(matrix.foldedNodes).toEqual(others);
  });

  it('takes default and source from a differing node, otherwise from any known one', () => {
    const entry = (key: string, fields: Partial<SettingEntry>): SettingEntry => ({
      key,
      value: 8,
      default: 2,
      changed: true,
      source: 'env',
      secret: false,
      ...fields,
    });
    const settings = new Map([
      ['s1', settingsByKey([entry('tsdb.flush', { source: 'file' }), entry('query.timeout', { default: null })])],
      ['s2', settingsByKey([entry('tsdb.flush', {})])],
    ]);
    const matrix = driftMatrix(small, { ...plain, settings });
    expect(matrix.rows.map((row) => [row.default, row.source])).toEqual([
      ['2', 'environment'],
      [null, null],
      [null, 'environment'],
    ]);
    expect(matrix).toMatchObject({ hasDefaults: true, hasSources: true });
    expect(driftMatrix(small, plain)).toMatchObject({ hasDefaults: false, hasSources: false });
  });
});

it('the nodes with the most differences are worth fetching settings from', () => {
  const twice = roleDiff(
    ['a', 'b', 'c'],
    [
      difference('x', [most(1, ['a']), value(2, ['b']), value(3, ['c'])]),
      difference('y', [most(1, ['a', 'b']), value(2, ['c'])]),
      difference('z.port', [most(1, ['b']), value(2, ['a', 'c'])], true),
    ],
  );
  expect(outlierNodes(twice)).toEqual(['c', 'b']);
});

it('the proposed pair differs in the first drifting key', () => {
  expect(firstPair(driftMatrix(small, plain))).toEqual({ left: 's1', right: 's2' });
  expect(firstPair({ rows: [] })).toBe(null);
});

describe('texts', () => {
  it.each([
    [3, 3, 'storage', '3 keys differ among 3 storage nodes'],
    [1, 2, 'node', '1 key differs among 2 nodes'],
    [0, 5, 'broker', 'No key differs among 5 broker nodes'],
    [0, 1, 'broker', 'Only 1 broker node'],
  ])('%i keys, %i nodes of role %s', (driftCount, nodes, role, words) => {
    const ids = Array.from({ length: nodes }, (_, n) => `n${n}`);
    expect(driftHeading({ driftCount }, { role, nodes: ids, notCompared: [] })).toBe(words);
  });

  it('say that secrets were compared only if they were', () => {
    expect(secretsText({ notCompared: [] })).toBe('secrets compared by fingerprint, never shown');
    expect(secretsText({ notCompared: ['db.secret'] })).toMatch(/^1 secret not compared on every node/);
    const heading = driftHeading({ driftCount: 0 }, { role: 'node', nodes: ['a', 'b'], notCompared: ['db.secret'] });
    expect(heading).toBe('No key that could be compared differs among 2 nodes');
  });

  it('name the label that nodes are compared within', () => {
    const nodes = ['a', 'b'];
    const heading = (label: string) => driftHeading({ driftCount: 1 }, { role: 'node', label, nodes, notCompared: [] });
    expect(heading('zone=eu-1')).toBe('1 key differs among 2 nodes with zone=eu-1');
    expect(heading('')).toBe('1 key differs among 2 nodes without label');
    expect(roleName({ role: 'broker', label: 'zone=a' })).toBe('broker zone=a');
  });

  it('keys expected to differ are summarised by kind', () => {
    expect(expectedText(['a.port', 'logging.dir', 'node-id', 'x.port'])).toBe(
      '4 keys expected to differ (ports, directories, ids)',
    );
    expect(expectedText(['rack'])).toBe('1 key expected to differ');
  });
});

const keyDifference = (
  key: string,
  fields: { isExpected?: boolean; isSameMeaning?: boolean } = {},
): ConfigDifference => ({
  key,
  secret: false,
  isExpected: fields.isExpected ?? false,
  values: [
    { value: 1, nodes: ['a'], isMajority: true, isSameMeaning: false },
    { value: 2, nodes: ['b'], isMajority: false, isSameMeaning: fields.isSameMeaning ?? false },
  ],
});

const memberReport = (id: string): MemberReport => ({
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
  roles: [
    role('broker', []),
    role('root', [keyDifference('x')]),
    role('storage', [keyDifference('x'), keyDifference('y')]),
  ],
  members: ['a', 'b', 'c', 'd'].map(memberReport),
};

it('counts only real differences', () => {
  expect(
    countDrift({
      differences: [
        keyDifference('x'),
        keyDifference('p', { isExpected: true }),
        keyDifference('t', { isSameMeaning: true }),
      ],
    }),
  ).toBe(1);
});

it('chooses the role with the most differences by default', () => {
  const request = (name: string | null, group: string | null = null) => ({ role: name, group });
  expect(chooseRole(diff, request(null))?.role).toBe('storage');
  expect(chooseRole(diff, request('broker'))?.role).toBe('broker');
  expect(chooseRole(diff, request('no such role'))?.role).toBe('storage');
  expect(chooseRole({ roles: [], members: [] }, request(null))).toBe(undefined);
  const zones = ['zone=a', 'zone=b', ''].map((label) => ({ ...role('root', []), label }));
  const chosen = (group: string) => chooseRole({ roles: zones, members: [] }, request('root', group))?.label;
  expect([chosen('zone=b'), chosen(''), chosen('zone=x')]).toEqual(['zone=b', '', 'zone=a']);
});

it('lists members of the role that were not compared', () => {
  const nodes = [
    { id: 'c', role: 'storage' },
    { id: 'd', role: 'broker', labels: { zone: 'a' } },
  ];
  expect(silentNodes(role('storage', []), diff, nodes)).toEqual(['c']);
  expect(silentNodes({ ...role('broker', []), label: 'zone=a' }, diff, nodes)).toEqual(['d']);
  expect(silentNodes({ ...role('broker', []), label: 'zone=b' }, diff, nodes)).toEqual([]);
});

it('names the nodes of which a fingerprint is missing, and does not take them for outliers', () => {
  const secrets = (value: string, nodes: string[], more: Partial<ConfigValue> = {}) => ({
    ...{ value, nodes, isMajority: false, isSameMeaning: false },
    ...more,
  });
  const diff: RoleDiff = {
    role: 'node',
    nodes: ['a', 'b', 'c', 'd'],
    comparedKeys: 1,
    notCompared: ['password'],
    withoutFingerprint: { password: ['c', 'd'] },
    differences: [
      {
        key: 'password',
        secret: true,
        isExpected: false,
        values: [
          secrets('****** (fingerprint f1)', ['b'], { isMajority: true }),
          secrets('****** (fingerprint f2)', ['a']),
          secrets('******', ['c', 'd'], { isNotCompared: true }),
        ],
      },
    ],
  };
  const matrix = driftMatrix(diff, plain);
  expect(matrix.notCompared).toEqual([{ key: 'password', nodes: ['c', 'd'] }]);
  expect(matrix.rows[0]?.cells.get('c')).toMatchObject({ isNotCompared: true });
  expect(firstPair(matrix)).toEqual({ left: 'b', right: 'a' });
});
