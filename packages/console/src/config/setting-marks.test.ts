import type { SettingEntry } from '@porthole/client';
import { expect, it } from 'vitest';
import { countSettings, settingMark } from './setting-values.ts';

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
