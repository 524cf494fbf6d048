import type { SettingEntry } from '@porthole/client';
import { expect, it } from 'vitest';
import { countSettings, settingMark, shortFingerprint, showValue } from './setting-values.ts';

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
