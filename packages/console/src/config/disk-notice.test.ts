import { expect, it } from 'vitest';
import { diskNotice } from './disk-notice.ts';

const told = (disk: Parameters<typeof diskNotice>[0]['disk']) => diskNotice({ file: '/etc/broker.toml', disk });

it('nothing is said of a file that is as it was read, or is none', () => {
  expect(told({ state: 'same', differs: [], detail: null })).toBe(null);
  expect(told({ state: 'none', differs: [], detail: null })).toBe(null);
});

it('a changed file is told with its keys', () => {
  expect(told({ state: 'changed', differs: ['http.port'], detail: null })).toEqual({
    text: 'file on disk differs: 1 key, restart needed',
    detail: 'http.port',
  });
  const differs = Array.from({ length: 10 }, (_, index) => `key-${index}`);
  expect(told({ state: 'changed', differs, detail: null })).toEqual({
    text: 'file on disk differs: 10 keys, restart needed',
    detail: 'key-0, key-1, key-2, key-3, key-4, key-5, key-6, key-7 and 2 more',
  });
  expect(told({ state: 'changed', differs: [], detail: null })).toEqual({
    text: 'file on disk differs: restart needed',
    detail: null,
  });
});

it('one that is broken or gone is told with what is known of it', () => {
  expect(told({ state: 'broken', differs: [], detail: 'line 3: no value' })?.detail).toBe('line 3: no value');
  expect(told({ state: 'missing', differs: [], detail: null })).toEqual({
    text: 'file on disk is gone',
    detail: '/etc/broker.toml',
  });
});
