import { describe, expect, test } from 'vitest';
import { navigation } from '../state/navigation.ts';
import { ALL_CONFIG, ALL_LOGS, nodeView } from '../state/view.ts';
import { fuzzyFilter, fuzzyScore, paletteEntries } from './palette.tsx';

const entries = paletteEntries({
  actions: [{ name: 'Copy link', keys: 'Y', run() {} }],
  nodeIds: ['a', 'b'],
  configKeys: ['query.timeout'],
  savedViews: [{ name: 'Slow\u202e queries', query: 'q=slow' }],
});

const viewOf = (name: string) => {
  entries.find((entry) => entry.name === name)?.run();
  return navigation.view.value;
};

test('actions of the page come first, with their shortcuts', () => {
  expect(entries[0]).toMatchObject({ group: 'Here', name: 'Copy link', keys: 'Y' });
});

test('what is loaded later comes last, so that nothing moves when it arrives', () => {
  const without = paletteEntries({ actions: [], nodeIds: ['a'], configKeys: [], savedViews: [] });
  const saved = [{ name: 'Slow', query: 'q=slow' }];
  const loaded = paletteEntries({ actions: [], nodeIds: ['a'], configKeys: ['query.timeout'], savedViews: saved });
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);
  expect(names(loaded)).toEqual([...names(without), 'Slow', 'query.timeout']);
});

test('has entries for every node, its logs and its configuration', () => {
  expect(viewOf('b')).toEqual(nodeView('b'));
  expect(viewOf('Logs of b')).toEqual({ ...ALL_LOGS, sources: [{ node: 'b', log: null }] });
  expect(viewOf('Configuration of b')).toEqual(nodeView('b', 'config'));
});

test('a saved view is opened by its name, in which nothing is hidden', () => {
  expect(viewOf('Slow⇄ queries')).toEqual({ ...ALL_LOGS, text: 'slow' });
});

test('a configuration key links to its values on all nodes', () => {
  expect(viewOf('query.timeout')).toEqual({ ...ALL_CONFIG, tab: 'text', text: 'query.timeout' });
});

const NAMES = [
  'Cluster',
  'Logs of broker-1',
  'Logs of storage-1',
  'Configuration of broker-1',
  'storage.tsdb.flush-size',
];

const filter = (query: string) => fuzzyFilter(NAMES, query, (name) => name);

describe('the palette filter', () => {
  test('returns everything in order for an empty query', () => {
    expect(filter('  ')).toEqual(NAMES);
  });

  test('matches letters in order and ranks whole words above scattered letters', () => {
    expect(filter('flsz')).toEqual(['storage.tsdb.flush-size']);
    expect(filter('storage')[0]).toBe('storage.tsdb.flush-size');
    expect(filter('log')[0]).toBe('Logs of broker-1');
  });

  test('drops entries that do not match', () => {
    expect(filter('zebra')).toEqual([]);
    expect(fuzzyScore('zz', 'z')).toBeNull();
  });
});
