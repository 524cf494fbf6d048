import { type ClusterConfig, type NodeClient, type NodeSettings, PortholeError } from '@porthole/client';
import type { ConfigPeriod } from '@porthole/contract';
import { describe, expect, it } from 'vitest';
import type { ShownEvent } from '../events/event-text.ts';
import { loadNodeConfig, matchesVersion, toVersions, versionAt } from './node-config.ts';

const event = (kind: ShownEvent['kind'], timeMs: number, fields: ShownEvent['fields']): ShownEvent => ({
  ...{ key: `${kind} ${timeMs}`, kind, timeMs, node: 'a', title: '', detail: null, icon: 'config', tone: null, fields },
});

const period = (
  version: string,
  fromMs: number,
  keys: readonly string[] | null,
  before: string | null = 'x',
): ConfigPeriod => ({
  ...{ version, fromMs, toMs: null },
  changes: keys?.map((key) => ({ key, before, after: '/mnt/wal' })) ?? null,
});

describe('versions', () => {
  it('say how they came about and what changed first', () => {
    const periods = [
      period('v1', 90_000, ['a.b']),
      period('v4', 80_000, []),
      period('v3', 50_000, ['c', 'd'], null),
      period('v2', 40_000, ['c']),
      period('v1', 30_000, ['c']),
      period('v0', 10_000, null),
    ];
    const events = [
      event('config-changed', 90_005, { config: 'v1', how: 'edit' }),
      event('version-changed', 49_900, { before: '0.6.0', version: '0.6.1' }),
      event('config-changed', 50_000, { config: 'v3', how: 'restart' }),
      event('config-changed', 30_000, { config: 'v1', how: 'restart' }),
    ];
    expect(toVersions(periods, events, true).map(({ cause, summary }) => [cause, summary])).toEqual([
      ['file edited', '1 key · a.b'],
      ['changed', 'only comments or layout'],
      ['restart 0.6.0 → 0.6.1', '2 keys added · c'],
      ['restart 0.6.0 → 0.6.1', '1 key · c'],
      ['restart', '1 key · c'],
      ['first seen', ''],
    ]);
    expect(toVersions(periods, [], false).at(-1)?.cause).toBe('oldest known');
  });

  it('are found by time, and by key or value', () => {
    const versions = toVersions([period('b', 20, ['wal.dir']), period('a', 10, null)], [], true);
    expect([
      versionAt(versions, null),
      versionAt(versions, 20),
      versionAt(versions, 19),
      versionAt(versions, 1),
    ]).toEqual([0, 0, 1, 1].map((index) => versions[index]));
    const found = (text: string) => versions.filter((one) => matchesVersion(one, text)).map(({ version }) => version);
    expect([found('WAL'), found('/mnt'), found('first'), found('no')]).toEqual([['b'], ['b'], ['a'], []]);
  });
});

const SETTINGS: NodeSettings = {
  ...{ observes: 'self', file: null, settings: [], disk: { state: 'none', differs: [], detail: null } },
};

const report = { id: 'a', outcome: 'ok' as const, detail: null, elapsedMs: 1, count: 1, asOfMs: null };

type ConfigClient = Parameters<typeof loadNodeConfig>[0];

const identity = { hostIp: '', hostName: '', grpcPort: 0, httpPort: 0, version: '', onlineTime: 7 };

function configs(settings: NodeSettings | null): ClusterConfig {
  return { configs: [{ id: 'a', role: 'node', config: { config: 'x = 1\n', node: identity }, settings, report }] };
}

/** Only the methods that are called. */
function fakeClient(
  settings: NodeSettings | null,
  more: Partial<ConfigClient> & Pick<Partial<NodeClient>, 'config'> = {},
): ConfigClient {
  const { config, ...others } = more;
  return {
    settings: async (request) => (request?.nodes?.includes('a') ? configs(settings) : { configs: [] }),
    configHistory: async () => ({
      nodes: [{ id: 'a', history: { periods: [period('v', 5, null)], isComplete: true } }],
      members: [report],
    }),
    node: () => ({ config }) as unknown as NodeClient,
    ...others,
  };
}

const noEvents = async () => [];

describe('what is known of a node', () => {
  it('is its text, its settings and its versions', async () => {
    const state = await loadNodeConfig(fakeClient(SETTINGS), 'a', async () => [event('config-file-differs', 9, {})]);
    expect(state).toMatchObject({ id: 'a', text: 'x = 1\n', source: null, report, startedMs: 7, editedMs: 9 });
    expect(state).toMatchObject({ settings: SETTINGS, settingsProblem: null, historyProblem: null, isComplete: true });
    expect(state.versions).toMatchObject([{ version: 'v', cause: 'first seen' }]);
  });

  it('has the source of a configuration that is not TOML, and does without it', async () => {
    const load = (config: () => Promise<never>) =>
      loadNodeConfig(fakeClient({ ...SETTINGS, format: 'yaml' }, { config }), 'a', noEvents);
    const source = await load(async () => ({ config: 'x: 1\n' }) as never);
    expect(source).toMatchObject({ text: 'x = 1\n', source: 'x: 1\n' });
    const failing = await load(async () => Promise.reject(new PortholeError('UNREACHABLE', 'gone')));
    expect(failing).toMatchObject({ text: 'x = 1\n', source: null });
  });

  it('has its text even if all else fails, and why', async () => {
    const fail = async () => {
      throw new PortholeError('NOT_SUPPORTED', 'only the contract');
    };
    const state = await loadNodeConfig(fakeClient(null, { configHistory: fail }), 'a', fail);
    expect(state).toMatchObject({ text: 'x = 1\n', settings: null, versions: [], isComplete: false });
    expect(state).toMatchObject({
      settingsProblem: { code: 'NOT_SUPPORTED' },
      historyProblem: { code: 'NOT_SUPPORTED' },
    });
  });

  it('is not loaded while its history is late, so that what was shown stays', async () => {
    const configHistory = async () => ({
      nodes: [{ id: 'a', history: null }],
      members: [{ ...report, outcome: 'timeout' as const, detail: 'no response within 5000 ms' }],
    });
    const client = fakeClient(SETTINGS, { configHistory });
    await expect(loadNodeConfig(client, 'a', noEvents)).rejects.toThrow('the history of a: no response within 5000 ms');
  });

  it('says that a node is unknown', async () => {
    const state = await loadNodeConfig(fakeClient(SETTINGS), 'b', noEvents);
    expect(state).toMatchObject({
      text: null,
      report: { outcome: 'gone', detail: 'no node named "b" in the cluster' },
    });
  });

  it('does not report an abort as a problem of the node', async () => {
    const leaving = new AbortController();
    const settings = async () => {
      leaving.abort(new Error('left'));
      throw new Error('broken off');
    };
    await expect(
      loadNodeConfig(fakeClient(SETTINGS, { settings }), 'a', noEvents, { signal: leaving.signal }),
    ).rejects.toThrow('left');
  });
});
