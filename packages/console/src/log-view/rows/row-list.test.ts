import { expect, test } from 'vitest';
import type { Row } from '../model/workspace-state.ts';
import { selectedText } from './row-list.tsx';

const rows: Row[] = ['a', 'b', 'c'].map((key) => ({
  kind: 'record',
  key,
  record: { type: 'record', node: 'n', file: 'f', offset: 0, bytes: 1, cursor: key, message: `message ${key}` },
}));

const options = { withNode: false };

test('selected rows are copied completely, in either direction', () => {
  expect(selectedText(rows, { fromKey: 'a', toKey: 'b' }, options)).toBe('message a\nmessage b');
  expect(selectedText(rows, { fromKey: 'c', toKey: 'a' }, options)).toBe('message a\nmessage b\nmessage c');
});

test('within one row the browser copies the selection', () => {
  expect(selectedText(rows, { fromKey: 'a', toKey: 'a' }, options)).toBeNull();
  expect(selectedText(rows, { fromKey: 'a', toKey: 'gone' }, options)).toBeNull();
});
