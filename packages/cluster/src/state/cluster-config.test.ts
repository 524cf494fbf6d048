import { type NodeState, PortholeError, type SettingEntry } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import { secretFingerprint } from '../settings/secrets.ts';
import { clusterConfig, configDiff } from './cluster-config.ts';
import { fakeDeps, NOW_MS, profile } from './testing/fake-deps.ts';
import { fakeNode, hang, NODE } from './testing/fake-node.ts';

const nodeWith = (config: string) => fakeNode({ config: async () => ({ config, node: NODE }) });
const last = { config: 'last = true\n', node: NODE };

it('a member that does not respond or has left is shown by its last known configuration, with its age', async () => {
  const deps = fakeDeps({
    states: { here: nodeWith('a = 1\n'), silent: fakeNode({ config: hang }), never: fakeNode({ config: hang }) },
    profiles: [profile('silent', { config: last }), profile('dead', { config: last })],
    timeoutMs: 20,
  });
  const { configs } = await clusterConfig(deps, {});
  expect(configs.map(({ id, config, report }) => [id, config?.config, report.outcome, report.asOfMs])).toEqual([
    ['dead', 'last = true\n', 'gone', NOW_MS - 60_000],
    ['here', 'a = 1\n', 'ok', null],
    ['never', undefined, 'timeout', null],
    ['silent', 'last = true\n', 'timeout', NOW_MS - 60_000],
  ]);
});

it('a member that has been seen lately is slow, and nothing old stands in for it', async () => {
  const deps = fakeDeps({
    states: { here: nodeWith('a = 1\n'), slow: fakeNode({ config: hang }) },
    profiles: [profile('slow', { config: last })],
    alive: ['slow'],
    timeoutMs: 20,
  });
  const { configs } = await clusterConfig(deps, {});
  expect(configs).toMatchObject([
    { id: 'here', report: { outcome: 'ok' } },
    { id: 'slow', config: null, report: { outcome: 'slow', asOfMs: null, detail: 'no response within 20 ms' } },
  ]);
});

it('a configuration does not wait for settings that do not come, and says that they are missing', async () => {
  const config = async () => ({ config: 'a = 1\n', node: NODE });
  const states = { plain: nodeWith('a = 1\n'), slow: fakeNode({ config, settings: hang }) };
  const { configs } = await clusterConfig(fakeDeps({ states, timeoutMs: 50 }), {});
  expect(configs).toMatchObject([
    { id: 'plain', config: { config: 'a = 1\n' }, settings: null, report: { outcome: 'ok', detail: null } },
    {
      id: 'slow',
      config: { config: 'a = 1\n' },
      settings: null,
      report: { outcome: 'ok', isPartial: true, detail: expect.stringMatching(/^settings: no response within/) },
    },
  ]);
});

it('secrets of nodes that do not mask them are masked; what cannot be masked is not shown', async () => {
  const deps = fakeDeps({ states: { a: nodeWith('my-secret = "hunter2"\n'), b: nodeWith('not toml: hunter2') } });
  const { configs } = await clusterConfig(deps, {});
  expect(JSON.stringify(configs)).not.toContain('hunter2');
  expect(configs).toMatchObject([
    { config: { config: 'my-secret = "******"\n' } },
    { config: null, report: { count: 0, detail: expect.stringContaining('not shown') } },
  ]);
});

it('only the selected ones are returned, by name, pattern or role, departed ones too', async () => {
  const states = { 'b-1': nodeWith(''), 'b-2': nodeWith(''), 's-1': nodeWith('') };
  const deps = fakeDeps({ states, roles: { 's-1': 'storage' }, profiles: [profile('b-3', { config: last })] });
  const ids = async (selection: { nodes?: string[]; role?: string }) =>
    (await clusterConfig(deps, selection)).configs.map(({ id }) => id);
  expect(await ids({ nodes: ['b-*'] })).toEqual(['b-1', 'b-2', 'b-3']);
  expect(await ids({ nodes: ['b-3'] })).toEqual(['b-3']);
  expect(await ids({ role: 'storage' })).toEqual(['s-1']);
  await expect(ids({ nodes: ['nobody'] })).rejects.toMatchObject({ code: 'MEMBER_NOT_FOUND' });
});

it('a member that refuses is reported with its code', async () => {
  const broken = fakeNode({ config: () => Promise.reject(new PortholeError('CONFIG_UNAVAILABLE', 'no file')) });
  const { configs } = await clusterConfig(fakeDeps({ states: { broken } }), {});
  expect(configs[0]).toMatchObject({
    config: null,
    report: { outcome: 'failed', detail: expect.stringContaining('CONFIG_UNAVAILABLE') },
  });
});

const fingerprint = secretFingerprint('credential of the cluster');

const contractOnly = (text: string) => fakeNode({ config: async () => ({ config: text, node: NODE }) });

function porthole(settings: Partial<SettingEntry>[]): NodeState {
  const entries = settings.map((entry) => ({ default: null, changed: null, source: 'file', secret: false, ...entry }));
  return fakeNode({
    settings: async () => ({
      observes: 'service',
      file: null,
      settings: entries as SettingEntry[],
      disk: { state: 'same', differs: [], detail: null },
    }),
  });
}

it('members are compared with those of their role, whether they send settings or only TOML', async () => {
  const deps = fakeDeps({
    states: {
      b1: contractOnly('[query]\nlimit = 10\n'),
      b2: porthole([{ key: 'query.limit', value: 20 }]),
      s1: contractOnly('wal = true\n'),
      s2: contractOnly('wal = true\n'),
    },
    roles: { b1: 'broker', b2: 'broker', s1: 'storage', s2: 'storage' },
  });
  const { roles, members } = await configDiff(deps, {});
  expect(
    roles.map(({ role, nodes, comparedKeys, differences }) => [role, nodes, comparedKeys, differences.length]),
  ).toEqual([
    ['broker', ['b1', 'b2'], 1, 1],
    ['storage', ['s1', 's2'], 1, 0],
  ]);
  expect(members.map(({ id, outcome, count }) => [id, outcome, count])).toEqual([
    ['b1', 'ok', 1],
    ['b2', 'ok', 1],
    ['s1', 'ok', 1],
    ['s2', 'ok', 1],
  ]);
});

describe('secrets', () => {
  const states = {
    a: contractOnly('db-secret = "hunter2"\n'),
    b: contractOnly("db-secret = 'hunter2'\n"),
    c: contractOnly('db-secret = "hunter3"\n'),
  };

  it('sent in clear are compared by fingerprint and not shown, however they are quoted', async () => {
    const diff = await configDiff({ ...fakeDeps({ states }), fingerprint }, {});
    expect(JSON.stringify(diff)).not.toContain('hunter');
    expect(diff.roles[0]?.differences[0]).toMatchObject({
      secret: true,
      values: [{ nodes: ['a', 'b'] }, { nodes: ['c'] }],
    });
  });

  it('without a credential of the cluster are not compared, which is reported', async () => {
    const diff = await configDiff(fakeDeps({ states }), {});
    expect(diff.roles[0]).toMatchObject({ notCompared: ['db-secret'], differences: [] });
  });

  it('match those whose fingerprint the member made itself', async () => {
    const own = (value: string) =>
      porthole([{ key: 'db-secret', value: '******', secret: true, fingerprint: fingerprint('db-secret', value) }]);
    const diff = await configDiff({ ...fakeDeps({ states: { ...states, d: own('hunter2') } }), fingerprint }, {});
    expect(diff.roles[0]?.differences[0]).toMatchObject({ values: [{ nodes: ['a', 'b', 'd'] }, { nodes: ['c'] }] });
  });

  it('that come masked have no fingerprint of their mask', async () => {
    const masked = contractOnly('db-secret = "******"\n');
    const diff = await configDiff({ ...fakeDeps({ states: { a: masked, b: masked } }), fingerprint }, {});
    expect(diff.roles[0]?.notCompared).toEqual(['db-secret']);
  });
});

describe('members that do not respond', () => {
  const config = { config: 'limit = 20\n', node: NODE };

  it('are compared by their profiles, and the report has their age', async () => {
    const states = { a: contractOnly('limit = 10\n'), b: fakeNode({ settings: hang }) };
    const deps = fakeDeps({ states, profiles: [profile('b', { config })], timeoutMs: 20 });
    const { roles, members } = await configDiff(deps, {});
    expect(roles[0]?.differences[0]).toMatchObject({ key: 'limit', values: [{ nodes: ['a'] }, { nodes: ['b'] }] });
    expect(members[1]).toMatchObject({ id: 'b', outcome: 'timeout', asOfMs: NOW_MS - 60_000, count: 1 });
  });

  it('that have failed are compared by their profile: drift does not disappear with them', async () => {
    const deps = fakeDeps({ states: { a: contractOnly('limit = 10\n') }, profiles: [profile('b', { config })] });
    const { members, roles } = await configDiff(deps, {});
    expect(members).toMatchObject([
      { id: 'a', state: 'up' },
      { id: 'b', outcome: 'gone', state: 'failed', asOfMs: NOW_MS - 60_000 },
    ]);
    expect(roles[0]?.differences).toHaveLength(1);
  });

  it('that have left in order are reported, and compared only when they are named', async () => {
    const departed = { state: 'left', sinceMs: NOW_MS - 30_000 } as const;
    const deps = fakeDeps({
      states: { a: contractOnly('limit = 10\n') },
      profiles: [profile('b', { config, departed })],
    });
    const all = await configDiff(deps, {});
    expect(all.members).toMatchObject([{ id: 'a' }, { id: 'b', outcome: 'left', sinceMs: NOW_MS - 30_000 }]);
    expect(all.roles[0]?.differences).toEqual([]);
    const named = await configDiff(deps, { nodes: ['a', 'b'] });
    expect(named.roles[0]?.differences).toHaveLength(1);
  });

  it.each([
    ['no TOML', contractOnly('this is not toml')],
    ['broken TOML', contractOnly('a = ')],
    ['settings that are none', porthole([{ key: 'x' }])],
  ])('that send %s are reported, and the others are compared', async (_what, odd) => {
    const states = { a: contractOnly('limit = 10\n'), b: contractOnly('limit = 20\n'), odd };
    const { roles, members } = await configDiff(fakeDeps({ states }), {});
    expect(roles[0]?.differences).toHaveLength(1);
    expect(members[2]).toMatchObject({ id: 'odd', outcome: 'version' });
  });
});
