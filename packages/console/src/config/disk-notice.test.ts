import type { NodeSettings } from '@porthole/client';
import { expect, it } from 'vitest';
import { diskNotice } from './setting-values.ts';

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
