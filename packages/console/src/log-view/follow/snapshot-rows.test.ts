import type { MemberReport } from '@porthole/client';
import { expect, test } from 'vitest';
import type { Row } from '../model/workspace-state.ts';
import { withSnapshotRows } from './snapshot-rows.ts';

function row(node: string, atMs: number): Row {
  const record = { type: 'record', node, file: 'a.log', offset: atMs, bytes: 1, cursor: `${atMs}`, message: '', atMs };
  return { kind: 'record', key: `${node} ${atMs}`, record } as Row;
}

const OK: MemberReport = { id: 'a', outcome: 'ok', detail: null, elapsedMs: 1, count: 1, asOfMs: null };
const GONE: MemberReport = { ...OK, id: 'b', outcome: 'gone', asOfMs: 20, sinceMs: 30 };
const ROWS = [row('a', 10), row('b', 20), row('a', 25), row('a', 40)];
const keys = (rows: readonly Row[]) => rows.map(({ key }) => key);

test('the lines of a node that stopped responding end with a notice', () => {
  const rows = withSnapshotRows(ROWS, [OK, GONE], 'done');
  expect(keys(rows)).toEqual(['a 10', 'b 20', 'snapshot b', 'a 25', 'a 40']);
  expect(rows[2]).toMatchObject({
    kind: 'gap',
    node: 'b',
    text: 'stopped responding',
    snapshot: { asOfMs: 20, sinceMs: 30 },
  });
});

test('the notice is before newer rows, or after older ones if there are no more', () => {
  expect(keys(withSnapshotRows(ROWS.slice(2), [GONE], 'done'))).toEqual(['snapshot b', 'a 25', 'a 40']);
  expect(keys(withSnapshotRows(ROWS.slice(0, 2), [GONE], 'done'))).toEqual(['a 10', 'b 20', 'snapshot b']);
  expect(keys(withSnapshotRows(ROWS.slice(0, 2), [GONE], 'more'))).toEqual(['a 10', 'b 20']);
});

test('rows of responding nodes are unchanged', () => {
  expect(withSnapshotRows(ROWS, [OK], 'done')).toBe(ROWS);
  expect(withSnapshotRows([], [GONE], 'done')).toEqual([]);
});
