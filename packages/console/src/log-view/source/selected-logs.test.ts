import { expect, it } from 'vitest';
import type { ShownRecord } from './log-source.ts';
import { sortRecords } from './selected-logs.ts';

const record = (node: string, message: string, atMs?: number): ShownRecord => ({
  type: 'record',
  node,
  message,
  file: 'a.log',
  offset: 0,
  bytes: 1,
  cursor: message,
  ...(atMs !== undefined && { atMs }),
});

const messages = (records: readonly ShownRecord[]) => records.map(({ message }) => message);

it('records of a late node are sorted in', () => {
  const records = [record('b', 'b2', 20), record('b', 'b1', 10), record('a', 'a2', 25), record('a', 'a1', 15)];
  expect(messages(sortRecords(records, 'older'))).toEqual(['a2', 'b2', 'a1', 'b1']);
  expect(messages(sortRecords(records.toReversed(), 'newer'))).toEqual(['b1', 'a1', 'b2', 'a2']);
});

it('the order within a node stays, also if times go back or are missing', () => {
  const records = [record('a', 'first', 30), record('a', 'none'), record('a', 'later', 50), record('b', 'other', 40)];
  expect(messages(sortRecords(records, 'older'))).toEqual(['other', 'first', 'none', 'later']);
});
