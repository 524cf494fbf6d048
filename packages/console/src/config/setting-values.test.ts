import type { NodeSettings, SettingEntry } from '@porthole/client';
import { expect, it } from 'vitest';
import { showValue } from '../ui/format.ts';
import { countSettings, settingNote, settingsNotices } from './setting-values.ts';

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

const entry = (fields: Partial<SettingEntry>): SettingEntry => ({
  key: 'lease-ttl',
  value: '10s',
  default: '10s',
  changed: false,
  source: 'default',
  secret: false,
  ...fields,
});

it('a changed setting has its default and source beside it', () => {
  expect(settingNote(entry({ default: '5s', changed: true, source: 'file' }))).toBe('changed, default 5s · file');
  expect(settingNote(entry({ default: '', changed: true, source: 'env' }))).toBe(
    'changed, default empty · environment',
  );
});

it('a default value has nothing beside it unless it does not come from the file', () => {
  expect(settingNote(entry({}))).toBe(null);
  expect(settingNote(entry({ source: 'file' }))).toBe(null);
  expect(settingNote(entry({ source: 'flag' }))).toBe('flag');
  expect(settingNote(entry({ source: 'file', file: '/etc/redis.conf', line: 2 }))).toBe('redis.conf:2');
  expect(settingNote(undefined)).toBe(null);
});

it('counts changes only if defaults are known', () => {
  expect(countSettings([entry({ changed: true }), entry({})])).toBe('2 keys, 1 changed from default');
  expect(countSettings([entry({ changed: null, default: null })])).toBe('1 key');
});

const notices = (disk: NodeSettings['disk'], more: Partial<NodeSettings> = {}) =>
  settingsNotices({ observes: 'self', file: '/etc/broker.toml', settings: [], disk, ...more });

it('an unchanged file, or none, needs no notice', () => {
  expect(notices({ state: 'same', differs: [], detail: null })).toEqual([]);
  expect(notices({ state: 'none', differs: [], detail: null })).toEqual([]);
});

it('a changed file is reported with its keys and both values', () => {
  const changes = [{ key: 'http.port', atStart: 9000, onDisk: null }];
  expect(notices({ state: 'changed', differs: ['http.port'], detail: null, changes })).toEqual([
    { text: 'File on disk differs: 1 key · restart needed', detail: 'http.port: 9000 → absent' },
  ]);
  const differs = Array.from({ length: 10 }, (_, index) => `key-${index}`);
  expect(notices({ state: 'changed', differs, detail: null })).toEqual([
    {
      text: 'File on disk differs: 10 keys · restart needed',
      detail: 'key-0, key-1, key-2, key-3, key-4, key-5, key-6, key-7 and 2 more',
    },
  ]);
  expect(notices({ state: 'changed', differs: [], detail: 'unreadable' })).toEqual([
    { text: 'File on disk differs · restart needed', detail: 'unreadable' },
  ]);
});

it('does not claim to know which values a service runs with', () => {
  const [notice] = notices({ state: 'changed', differs: ['http.port'], detail: null }, { observes: 'service' });
  expect(notice?.text).toBe(
    'File changed since start: 1 key · the service runs with the old values until it is restarted',
  );
});

it('an invalid or missing file is reported with its details', () => {
  expect(notices({ state: 'broken', differs: [], detail: 'line 3: no value' })[0]?.detail).toBe('line 3: no value');
  expect(notices({ state: 'missing', differs: [], detail: null })).toEqual([
    { text: 'File on disk is missing', detail: '/etc/broker.toml' },
  ]);
});

it('says that a service runs with other values than its files have, and what could not be read', () => {
  const same: NodeSettings['disk'] = { state: 'same', differs: [], detail: null };
  const running = { state: 'differs', detail: null, comparedKeys: 2 } as const;
  const differences = [{ key: 'port', onDisk: 6379, running: 6380 }];
  expect(notices(same, { running: { ...running, differences }, problems: ['a file is missing'] })).toEqual([
    { text: 'The service runs with other values than its files have: 1 key', detail: 'port: 6379 → 6380' },
    { text: 'a file is missing', detail: null },
  ]);
  expect(notices(same, { running: { ...running, state: 'same', differences: [] } })).toEqual([]);
  expect(notices(same, { running: { ...running, state: 'failed', detail: 'timeout', differences: [] } })).toEqual([
    { text: 'What the service runs with is unknown', detail: 'timeout' },
  ]);
});
