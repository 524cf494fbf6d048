import { expect, test } from 'vitest';
import { ALL_CONFIG, ALL_LOGS } from '../../state/view.ts';
import { paletteEntries } from './palette-entries.ts';

const entries = paletteEntries({
  actions: [{ name: 'Copy link', keys: 'Y', run() {} }],
  shellActions: [{ name: 'Show all keys', run() {} }],
  nodeIds: ['a', 'b'],
  configKeys: ['query.timeout'],
});

const viewOf = (name: string) => {
  const target = entries.find((entry) => entry.name === name)?.target;
  return target?.kind === 'go' ? target.view : undefined;
};

test('what can be done here comes first, with its keys', () => {
  expect(entries[0]).toMatchObject({ group: 'Here', name: 'Copy link', keys: 'Y' });
});

test('every node can be gone to: itself, its logs, its configuration', () => {
  expect(viewOf('b')).toEqual({ page: 'node', id: 'b', tab: 'overview', text: '' });
  expect(viewOf('Logs of b')).toEqual({ ...ALL_LOGS, sources: [{ node: 'b', log: null }] });
  expect(viewOf('Configuration of b')).toEqual({ page: 'node', id: 'b', tab: 'config', text: '' });
});

test('a configuration key leads to what the nodes say of it', () => {
  expect(viewOf('query.timeout')).toEqual({ ...ALL_CONFIG, text: 'query.timeout', showExpected: true });
});
