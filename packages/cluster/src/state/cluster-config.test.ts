import { PortholeError } from '@porthole/contract';
import { expect, it } from 'vitest';
import { clusterConfig } from './cluster-config.ts';
import { fakeDeps, NOW_MS, snapshot } from './testing/fake-deps.ts';
import { fakeNode, hang, NODE } from './testing/fake-node.ts';

const nodeWith = (config: string) => fakeNode({ config: async () => ({ config, node: NODE }) });
const last = { config: 'last = true\n', node: NODE };

it('a member that does not respond or has left is shown by its last known configuration, with its age', async () => {
  const deps = fakeDeps({
    states: { here: nodeWith('a = 1\n'), silent: fakeNode({ config: hang }), never: fakeNode({ config: hang }) },
    snapshots: [snapshot('silent', { config: last }), snapshot('dead', { config: last })],
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
  const deps = fakeDeps({ states, roles: { 's-1': 'storage' }, snapshots: [snapshot('b-3', { config: last })] });
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
