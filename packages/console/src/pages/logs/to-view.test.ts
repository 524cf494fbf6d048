import { expect, test } from 'vitest';
import type { FollowStatus, Row } from '../../log-view/model/workspace-state.ts';
import type { ShownRecord } from '../../log-view/source/log-source.ts';
import { ALL_LOGS } from '../../state/view.ts';
import { toView } from './use-log-workspace.ts';

const makeRecord = (index: number, atMs: number | null = index * 1000): ShownRecord => ({
  type: 'record',
  node: 'n',
  file: 'f',
  offset: index,
  bytes: 1,
  cursor: `c${index}`,
  message: '',
  ...(atMs !== null && { atMs }),
});
const records = [0, 1, 2, 3, 4].map((index) => makeRecord(index));
const rows: Row[] = records.map((record) => ({ kind: 'record', key: record.cursor, record }));
const seen = { first: records[1] ?? null, last: records[3] ?? null };
const follow = (state: FollowStatus['state']): FollowStatus => ({
  state,
  newRecords: 0,
  newErrors: 0,
  linesPerSecond: 0,
  lagMs: null,
  reason: null,
});

test('the URL follows while following', () => {
  const next = toView({ ...ALL_LOGS, timeMs: 5 }, { rows, focusedKey: 'c2', follow: follow('live') }, seen);
  expect(next).toMatchObject({ isLive: true, at: null, timeMs: null });
});

test('a visible focused record is in the URL', () => {
  const next = toView(ALL_LOGS, { rows, focusedKey: 'c2', follow: follow('paused') }, seen);
  expect(next).toMatchObject({ isLive: false, at: { node: 'n', cursor: 'c2' }, timeMs: null });
});

test('otherwise the URL has the time of the first row', () => {
  for (const focusedKey of ['c0', 'c4', null])
    expect(toView(ALL_LOGS, { rows, focusedKey, follow: follow('off') }, seen)).toMatchObject({
      at: null,
      timeMs: 1000,
    });
});

test('rows without timestamps are identified by the first record', () => {
  const first = makeRecord(1, null);
  const next = toView(ALL_LOGS, { rows, focusedKey: null, follow: follow('off') }, { first, last: null });
  expect(next).toMatchObject({ at: { node: 'n', cursor: 'c1' }, timeMs: null });
});
