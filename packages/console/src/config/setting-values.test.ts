import {
  type ClusterState,
  type NodeSettings,
  type NodeState,
  PortholeError,
  type SettingEntry,
} from '@porthole/client';
import { expect, it } from 'vitest';
import {
  countSettings,
  diskNotice,
  loadNodeConfig,
  runningNotice,
  settingMark,
  shortFingerprint,
  showValue,
} from './setting-values.ts';

it.each([
  ['30s', { text: '30s', kind: 'value', fingerprint: null }],
  [8, { text: '8', kind: 'value', fingerprint: null }],
  [['a', 1], { text: '["a",1]', kind: 'value', fingerprint: null }],
  [null, { text: 'absent', kind: 'absent', fingerprint: null }],
  ['', { text: 'empty', kind: 'empty', fingerprint: null }],
  ['******', { text: '******', kind: 'secret', fingerprint: null }],
  ['****** (fingerprint a41f00)', { text: '******', kind: 'secret', fingerprint: 'a41f00' }],
  ['http://u:******@h (fingerprint 07c2)', { text: 'http://u:******@h', kind: 'secret', fingerprint: '07c2' }],
  ['mine (fingerprint 07c2)', { text: 'mine (fingerprint 07c2)', kind: 'value', fingerprint: null }],
])('formats %j', (value, shown) => {
  expect(showValue(value)).toEqual(shown);
});

it('a fingerprint is short enough for a cell', () => {
  expect(shortFingerprint('a41f00c2d3')).toBe('a41f');
});

const entry = (fields: Partial<SettingEntry>): SettingEntry => ({
  key: 'lease-ttl',
  value: '10s',
  default: '10s',
  changed: false,
  source: 'default',
  secret: false,
  ...fields,
});

it('a changed setting is marked with its default and source', () => {
  expect(settingMark(entry({ default: '5s', changed: true, source: 'file' }))).toEqual({
    text: 'changed, default 5s · file',
    isChanged: true,
  });
  expect(settingMark(entry({ default: '', changed: true, source: 'env' }))?.text).toBe(
    'changed, default empty · environment',
  );
});

it('a default value has no mark unless it does not come from the file', () => {
  expect(settingMark(entry({}))).toBe(null);
  expect(settingMark(entry({ source: 'file' }))).toBe(null);
  expect(settingMark(entry({ source: 'flag' }))).toEqual({ text: 'flag', isChanged: false });
  expect(settingMark(undefined)).toBe(null);
});

it('counts changes only if defaults are known', () => {
  expect(countSettings([entry({ changed: true }), entry({})])).toBe('2 keys, 1 changed from default');
  expect(countSettings([entry({ changed: null, default: null })])).toBe('1 key');
});

const makeNotice = (disk: NodeSettings['disk'], observes: NodeSettings['observes'] = 'self') =>
  diskNotice({ observes, file: '/etc/broker.toml', disk });

it('no notice for an unchanged file, or without a file', () => {
  expect(makeNotice({ state: 'same', differs: [], detail: null })).toBe(null);
  expect(makeNotice({ state: 'none', differs: [], detail: null })).toBe(null);
});

it('a changed file is reported with its keys', () => {
  expect(makeNotice({ state: 'changed', differs: ['http.port'], detail: null })).toEqual({
    text: 'File on disk differs: 1 key · restart needed',
    detail: 'http.port',
  });
  const differs = Array.from({ length: 10 }, (_, index) => `key-${index}`);
  expect(makeNotice({ state: 'changed', differs, detail: null })).toEqual({
    text: 'File on disk differs: 10 keys · restart needed',
    detail: 'key-0, key-1, key-2, key-3, key-4, key-5, key-6, key-7 and 2 more',
  });
  expect(makeNotice({ state: 'changed', differs: [], detail: null })?.text).toBe(
    'File on disk differs · restart needed',
  );
});

it('does not claim to know which values a service runs with', () => {
  expect(makeNotice({ state: 'changed', differs: ['http.port'], detail: null }, 'service')?.text).toBe(
    'File changed since start: 1 key · the service runs with the old values until it is restarted',
  );
});

it('an invalid or missing file is reported with its details', () => {
  expect(makeNotice({ state: 'broken', differs: [], detail: 'line 3: no value' })?.detail).toBe('line 3: no value');
  expect(makeNotice({ state: 'missing', differs: [], detail: null })).toEqual({
    text: 'File on disk is missing',
    detail: '/etc/broker.toml',
  });
});

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
  ).toEqual({ id: 'a', text: 'x = 1\n', source: null, report, settings: SETTINGS, settingsProblem: null });
});

it('loads the source of a configuration that is not TOML, and does without it', async () => {
  const settings = async () => ({ ...SETTINGS, format: 'yaml' });
  const cluster = (config: () => Promise<unknown>) => ({
    ...fakeCluster(settings),
    member: () => ({ settings, config }) as unknown as NodeState,
  });
  const loaded = await loadNodeConfig(
    cluster(async () => ({ config: 'x: 1\n' })),
    'a',
  );
  expect(loaded).toMatchObject({ text: 'x = 1\n', source: 'x: 1\n' });
  const failing = cluster(async () => Promise.reject(new PortholeError('UNREACHABLE', 'gone')));
  expect(await loadNodeConfig(failing, 'a')).toMatchObject({ text: 'x = 1\n', source: null });
});

it('says that a service runs with other values than its files have', () => {
  const running = { state: 'differs', detail: null, comparedKeys: 2 } as const;
  const differences = [{ key: 'port', onDisk: 6379, running: 6380 }];
  expect(runningNotice({ running: { ...running, differences } })).toEqual({
    text: 'The service runs with other values than its files have: 1 key',
    detail: 'port: 6379 → 6380',
  });
  expect(runningNotice({ running: { ...running, state: 'same', differences: [] } })).toBeNull();
  expect(runningNotice({})).toBeNull();
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
