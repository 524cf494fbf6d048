import type { ClusterRecord } from '@porthole/client';
import { expect, test } from 'vitest';
import { nodeRuns } from './node-runs.ts';

const event = (timeMs: number, context: Record<string, unknown>): ClusterRecord => ({
  ...{ type: 'record', node: 'a', file: 'events.log', offset: timeMs, bytes: 1, cursor: `${timeMs}`, timeMs },
  ...{ level: 'INFO', message: '', context },
});

const UP = { isUp: true, lostMs: null };

test('runs have a start, an end, how it ended and a version, newest first', () => {
  const records = [
    event(1_000_400, { kind: 'started', version: '1' }),
    event(1_100_000, { kind: 'stopped', run: 1_000_000 }),
    event(1_200_400, { kind: 'started', version: '2' }),
    event(1_290_000, { kind: 'killed', run: 1_200_000, isReboot: false }),
    event(1_300_400, { kind: 'started', version: '2' }),
  ];
  expect(nodeRuns(records, UP)).toEqual([
    { startMs: 1_300_400, endMs: null, how: 'running', version: '2' },
    { startMs: 1_200_400, endMs: 1_290_000, how: 'killed', version: '2' },
    { startMs: 1_000_400, endMs: 1_100_000, how: 'stopped', version: '1' },
  ]);
});

test('others saw the end of a killed run more exactly than it did itself', () => {
  const records = [
    event(1_000_400, { kind: 'started', version: '1' }),
    event(1_095_000, { kind: 'member-lost', run: 1_000_000, lastSignMs: 1_094_000 }),
    event(1_096_000, { kind: 'killed', run: 1_000_000, isReboot: true }),
    event(1_200_400, { kind: 'started', version: '1' }),
  ];
  expect(nodeRuns(records, UP)[1]).toMatchObject({ endMs: 1_094_000, how: 'rebooted' });
});

test('a node that is gone does not run; when only its connection was lost, the run goes on', () => {
  const lost = [
    event(1_000_400, { kind: 'started', version: '1' }),
    event(1_050_000, { kind: 'member-lost', run: 1_000_000, lastSignMs: 1_049_000 }),
  ];
  expect(nodeRuns(lost, { isUp: false, lostMs: 1_049_500 })).toMatchObject([{ endMs: 1_049_500, how: 'lost' }]);
  expect(nodeRuns(lost, { isUp: false, lostMs: null })).toMatchObject([{ endMs: 1_049_000, how: 'lost' }]);
  expect(nodeRuns(lost.slice(0, 1), { isUp: false, lostMs: 7 })).toMatchObject([{ endMs: 7, how: 'lost' }]);
  const back = event(1_060_000, { kind: 'member-back', run: 1_000_000, isRestarted: false });
  expect(nodeRuns([...lost, back], UP)).toMatchObject([{ endMs: null, how: 'running' }]);
});

test('a run whose start is not kept any more has its end', () => {
  expect(nodeRuns([event(1_100_000, { kind: 'stopped', run: 1_000_000 })], { isUp: false, lostMs: 0 })).toEqual([
    { startMs: 1_000_000, endMs: 1_100_000, how: 'stopped', version: null },
  ]);
});
