import type { MemberReport } from '@porthole/client';
import { expect, test } from 'vitest';
import { withSnapshotRows } from './reduce.ts';
import type { Row } from './workspace-state.ts';

function row(node: string, atMs: number): Row {
  const record = { type: 'record', node, file: 'a.log', offset: atMs, bytes: 1, cursor: `${atMs}`, message: '', atMs };
  return { kind: 'record', key: `${node} ${atMs}`, record } as Row;
}

const OK: MemberReport = { id: 'a', outcome: 'ok', detail: null, elapsedMs: 1, count: 1, asOfMs: null };
const GONE: MemberReport = { ...OK, id: 'b', outcome: 'gone', asOfMs: 20, sinceMs: 30 };
const ROWS = [row('a', 10), row('b', 20), row('a', 25), row('a', 40)];
const keys = (rows: readonly Row[]) => rows.map(({ key }) => key);

test('the lines of a node that stopped responding end with a notice', () => {
  const rows = withSnapshotRows(ROWS, [OK, GONE], { bottom: 'done' });
  expect(keys(rows)).toEqual(['a 10', 'b 20', 'snapshot b', 'a 25', 'a 40']);
  expect(rows[2]).toMatchObject({
    kind: 'gap',
    node: 'b',
    text: 'stopped responding',
    snapshot: { asOfMs: 20, sinceMs: 30, from: 'its snapshot' },
  });
});

test('the notice is before newer rows, or after older ones if there are no more', () => {
  expect(keys(withSnapshotRows(ROWS.slice(2), [GONE], { bottom: 'done' }))).toEqual(['snapshot b', 'a 25', 'a 40']);
  expect(keys(withSnapshotRows(ROWS.slice(0, 2), [GONE], { bottom: 'done' }))).toEqual(['a 10', 'b 20', 'snapshot b']);
  expect(keys(withSnapshotRows(ROWS.slice(0, 2), [GONE], { bottom: 'more' }))).toEqual(['a 10', 'b 20']);
});

test('rows of responding nodes are unchanged', () => {
  expect(withSnapshotRows(ROWS, [OK], { bottom: 'done' })).toBe(ROWS);
  expect(withSnapshotRows([], [GONE], { bottom: 'done' })).toEqual([]);
});

test('a range that ends before the snapshot was taken has no notice', () => {
  expect(keys(withSnapshotRows(ROWS.slice(0, 1), [GONE], { bottom: 'done', toMs: 15 }))).toEqual(['a 10']);
});

test('a node that only the archive knows has a notice between its lines and newer ones, and nowhere else', () => {
  const archive = { count: 1, beforeMs: null, shippedFromMs: 1, shippedToMs: 20, lostBytes: 0 };
  const past: MemberReport = { ...OK, id: 'b', outcome: 'left', state: 'left', asOfMs: 20, sinceMs: null, archive };
  const rows = withSnapshotRows(ROWS, [past], { bottom: 'done' });
  expect(keys(rows)).toEqual(['a 10', 'b 20', 'snapshot b', 'a 25', 'a 40']);
  expect(rows[2]).toMatchObject({ snapshot: { from: 'the archive' } });
  expect(keys(withSnapshotRows(ROWS.slice(2), [past], { bottom: 'done' }))).toEqual(['a 25', 'a 40']);
  expect(keys(withSnapshotRows(ROWS.slice(0, 2), [past], { bottom: 'done' }))).toEqual(['a 10', 'b 20']);
  const failed = { ...GONE, archive };
  expect(withSnapshotRows(ROWS, [failed], { bottom: 'done' })[2]).toMatchObject({
    snapshot: { from: 'the archive and its snapshot' },
  });
});
