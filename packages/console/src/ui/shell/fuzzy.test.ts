import { describe, expect, test } from 'vitest';
import { fuzzyFilter, fuzzyScore } from './fuzzy.ts';

const NAMES = [
  'Cluster',
  'Logs of broker-1',
  'Logs of storage-1',
  'Configuration of broker-1',
  'storage.tsdb.flush-size',
];

const filter = (query: string) => fuzzyFilter(NAMES, query, (name) => name);

describe('the filter of the palette', () => {
  test('shows all, in their order, while nothing is typed', () => {
    expect(filter('  ')).toEqual(NAMES);
  });

  test('takes every word, in any order and case', () => {
    expect(filter('BROKER logs')).toEqual(['Logs of broker-1']);
  });

  test('finds what has the letters in order, words before scattered letters', () => {
    expect(filter('flsz')).toEqual(['storage.tsdb.flush-size']);
    expect(filter('storage')[0]).toBe('storage.tsdb.flush-size');
    expect(filter('log')[0]).toBe('Logs of broker-1');
  });

  test('leaves out what does not fit', () => {
    expect(filter('zebra')).toEqual([]);
    expect(fuzzyScore('zz', 'z')).toBeNull();
  });

  test('takes what is typed as letters, whatever it means elsewhere', () => {
    expect(filter('.*')).toEqual([]);
    expect(filter('tsdb.flush')).toEqual(['storage.tsdb.flush-size']);
  });
});
