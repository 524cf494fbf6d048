import type { ClusterRecord } from '@porthole/client';
import { expect, test } from 'vitest';
import { groupEvents, shownEvents, withChanges } from './event-text.ts';

const record = (node: string, timeMs: number, context: Record<string, unknown>): ClusterRecord => ({
  ...{ type: 'record', node, file: 'events.log', offset: timeMs, bytes: 1, cursor: `${node}${timeMs}`, timeMs },
  ...{ atMs: timeMs, level: 'INFO', message: 'something happened', context },
});

test('a restart is one event, however many parts of it were seen', () => {
  const shown = shownEvents([
    record('b', 20_000, { kind: 'member-back', member: 'a', awayMs: 3400, isRestarted: true }),
    record('a', 19_500, { kind: 'started', version: '0.6.1' }),
    record('c', 16_000, { kind: 'member-left', member: 'a' }),
    record('a', 15_000, { kind: 'log-rotated' }),
  ]);
  expect(shown.map(({ node, title, detail }) => [node, title, detail])).toEqual([
    ['a', 'restarted', 'stopped in order, away 3.4 s'],
  ]);
});

test('a restart that no other node has seen is one event, too, unless it took long', () => {
  const titles = (...ended: [kind: string, timeMs: number][]) =>
    shownEvents([
      record('a', 900_000, { kind: 'started', version: '1' }),
      ...ended.map(([kind, timeMs]) => record('a', timeMs, { kind, run: 1 })),
    ]).map(({ title, detail }) => [title, detail]);
  expect(titles(['stopped', 897_000])).toEqual([['restarted', 'stopped in order, away 3 s']]);
  expect(titles(['killed', 897_000])).toEqual([['was killed and restarted', 'away 3 s']]);
  expect(titles(['stopped', 900_500])).toEqual([
    ['stopped', 'something happened'],
    ['started', 'version 1'],
  ]);
  expect(titles(['stopped', 1000])).toEqual([
    ['started', 'version 1'],
    ['stopped', 'something happened'],
  ]);
});

test('a loss stands at the last sign of the node, a rise at its first record and without its new error', () => {
  const first = { timeMs: 5000, message: 'fsync failed\nstack' };
  const shown = shownEvents([
    record('b', 90_000, { kind: 'member-lost', member: 'a', lastSignMs: 70_000 }),
    record('a', 60_000, { kind: 'log-burst', usualPerMinute: 0.04, errors: 240, record: first }),
    record('a', 30_000, { kind: 'new-pattern', record: first, pattern: { source: 'storage/wal.go:211' } }),
  ]);
  expect(shown.map(({ node, timeMs, title, detail }) => [node, timeMs, title, detail])).toEqual([
    ['a', 70_000, 'stopped responding', 'no shutdown record: it was killed or lost'],
    ['a', 5000, 'errors rose from 0 to 240 a minute', 'first: fsync failed'],
  ]);
});

test('a change names its keys, and kinds of later versions are left out', () => {
  const shown = shownEvents([
    record('a', 2, { kind: 'config-changed', keys: ['wal.dir', 'wal.size'], changed: 2 }),
    record('a', 1, { kind: 'of a later version' }),
  ]);
  expect(shown.map(({ title, detail }) => [title, detail])).toEqual([
    ['configuration changed, 2 keys', 'wal.dir · wal.size'],
  ]);
});

test('what several nodes do at the same time is one line', () => {
  const started = (node: string, timeMs: number) => record(node, timeMs, { kind: 'started', version: '1' });
  const groups = groupEvents(shownEvents([started('b', 100_000), started('a', 99_000), started('c', 10_000)]));
  expect(groups.map(({ nodes }) => nodes)).toEqual([['a', 'b'], ['c']]);
});

test('a restart says how it ended, and to which version', () => {
  const back = { kind: 'member-back', member: 'a', awayMs: 4000, isRestarted: true };
  const shown = shownEvents([
    record('b', 20_000, back),
    record('a', 19_000, { kind: 'version-changed', before: '0.6.0', version: '0.6.1' }),
    record('a', 15_000, { kind: 'killed' }),
  ]);
  expect(shown.map(({ kind, title, detail }) => [kind, title, detail])).toEqual([
    ['killed', 'was killed and restarted, 0.6.0 → 0.6.1', 'away 4 s'],
  ]);
  const lost = record('b', 16_500, { kind: 'member-lost', member: 'a', lastSignMs: 16_000 });
  expect(shownEvents([record('b', 20_000, back), lost]).map(({ timeMs, title }) => [timeMs, title])).toEqual([
    [16_000, 'was lost and restarted'],
  ]);
  // Only the connection to it was lost.
  const again = record('b', 20_000, { ...back, isRestarted: false });
  expect(shownEvents([again, lost]).map(({ title, detail }) => [title, detail])).toEqual([['is back', 'away 4 s']]);
});

test('an end that the node reported itself is not told again by those who saw it', () => {
  const shown = shownEvents([
    record('b', 16_000, { kind: 'member-left', member: 'a', run: 1 }),
    record('a', 15_000, { kind: 'stopped', run: 1 }),
  ]);
  expect(shown.map(({ kind }) => kind)).toEqual(['stopped']);
  const soonLost = shownEvents([
    record('b', 19_000, { kind: 'member-lost', member: 'a', run: 2 }),
    record('b', 17_000, { kind: 'member-back', member: 'a', run: 2, awayMs: 2000, isRestarted: true }),
    record('a', 15_000, { kind: 'stopped', run: 1 }),
  ]);
  expect(soonLost.map(({ kind }) => kind)).toEqual(['member-lost', 'member-back']);
});

test('a change has its old and new values, if the history has them', () => {
  const events = shownEvents([
    record('a', 2, { kind: 'config-changed', keys: ['wal.dir'], changed: 1, config: 'v2' }),
    record('b', 1, { kind: 'config-changed', keys: ['wal.dir'], changed: 1, config: 'v2' }),
  ]);
  const period = { version: 'v2', fromMs: 2, toMs: null };
  const changes = [
    { key: 'wal.dir', before: '/data/wal', after: '/mnt/wal' },
    ...['a', 'b', 'c'].map((key) => ({ key, before: null, after: 1 })),
  ];
  const known = withChanges(events, [
    { id: 'a', history: { periods: [{ ...period, changes }], isComplete: true } },
    { id: 'b', history: null },
  ]);
  expect(known.map(({ detail }) => detail)).toEqual([
    'wal.dir /data/wal → /mnt/wal\na absent → 1\nb absent → 1\n1 more',
    'wal.dir',
  ]);
});
