import { type ClusterState, type NodeSettings, type NodeState, PortholeError } from '@porthole/client';
import { expect, it } from 'vitest';
import { loadNodeConfig } from './setting-values.ts';

const SETTINGS: NodeSettings = {
  observes: 'self',
  file: null,
  settings: [],
  disk: { state: 'none', differs: [], detail: null },
};

const report = { id: 'a', outcome: 'ok' as const, detail: null, elapsedMs: 1, count: 1, asOfMs: null };

function fakeCluster(settings: NodeState['settings']): Pick<ClusterState, 'config' | 'member'> {
  const node = { hostIp: '', hostName: '', grpcPort: 0, httpPort: 0, version: '', onlineTime: 0 };
  return {
    config: async ({ nodes }) => ({
      configs: nodes?.includes('a') ? [{ id: 'a', role: 'node', config: { config: 'x = 1\n', node }, report }] : [],
    }),
    // Only the methods that are called.
    member: () => ({ settings }) as NodeState,
  };
}

it('loads text and settings', async () => {
  expect(
    await loadNodeConfig(
      fakeCluster(async () => SETTINGS),
      'a',
    ),
  ).toEqual({ id: 'a', text: 'x = 1\n', report, settings: SETTINGS, settingsProblem: null });
});

it('a node without settings has its text and the reason', async () => {
  const cluster = fakeCluster(async () => {
    throw new PortholeError('NOT_SUPPORTED', 'only the contract');
  });
  expect(await loadNodeConfig(cluster, 'a')).toMatchObject({
    text: 'x = 1\n',
    settings: null,
    settingsProblem: { code: 'NOT_SUPPORTED', detail: 'only the contract' },
  });
});

it('an unknown node is reported as unknown', async () => {
  expect(
    await loadNodeConfig(
      fakeCluster(async () => SETTINGS),
      'b',
    ),
  ).toMatchObject({
    text: null,
    report: { outcome: 'gone', detail: 'no node named "b" in the cluster' },
  });
});

it('an abort is not reported as a problem of the node', async () => {
  const leaving = new AbortController();
  const cluster = fakeCluster(async () => {
    leaving.abort(new Error('left'));
    throw new Error('broken off');
  });
  await expect(loadNodeConfig(cluster, 'a', { signal: leaving.signal })).rejects.toThrow('left');
});
