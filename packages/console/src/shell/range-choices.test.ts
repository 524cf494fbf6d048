import { expect, test } from 'vitest';
import { ALL_LOGS, nodeView } from '../state/view.ts';
import { rangeText } from '../ui/format.ts';
import { changeText, logsOf, nextDate, rangeBefore } from './range-choices.tsx';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 10, 18, 12);

test.each([
  [240, 3, '240 errors, 3 before (× 80)'],
  [122, 100, '122 errors, 100 before (+22 %)'],
  [50, 100, '50 errors, 100 before (−50 %)'],
  [1001, 1000, '1,001 errors, 1,000 before'],
  [5, 5, '5 errors, 5 before'],
  [5, 0, '5 errors, 0 before'],
  [0, 5, '0 errors, 5 before (−100 %)'],
])('%i of now and %i of before', (now, before, text) => {
  const counts = (errors: number) => ({ records: 0, errors, isComplete: true });
  expect(changeText(counts(now), counts(before), 'errors')).toBe(text);
});

test('a count that may be too low is compared with nothing', () => {
  const now = { records: 9, errors: 2, isComplete: false };
  expect(changeText(now, { ...now, records: 3, isComplete: true }, 'records')).toBe('≥ 9 records, 3 before');
});

test('the range before is as long, ends where the other begins, and is closed', () => {
  expect(rangeBefore({ kind: 'last', spanMs: HOUR_MS }, NOW_MS)).toEqual({
    ...{ kind: 'fixed', fromMs: NOW_MS - 2 * HOUR_MS, toMs: NOW_MS - HOUR_MS },
  });
  expect(rangeBefore({ kind: 'fixed', fromMs: NOW_MS - HOUR_MS, toMs: null }, NOW_MS)).toEqual({
    ...{ kind: 'fixed', fromMs: NOW_MS - 2 * HOUR_MS, toMs: NOW_MS - HOUR_MS },
  });
  expect(rangeText({ kind: 'last', spanMs: HOUR_MS }, 'utc', NOW_MS)).toBe('Last hour');
});

test('a day of the calendar ends where the next one begins, also when clocks change', () => {
  expect(nextDate('2026-03-29')).toBe('2026-03-30');
  expect(nextDate('2026-02-28')).toBe('2026-03-01');
  expect(nextDate('2026-12-31')).toBe('2027-01-01');
});

test('what is counted for a range is about the logs that the page shows', () => {
  const logs = { ...ALL_LOGS, sources: [{ node: 'a', log: { kind: 'family', name: 'x.log' } }], text: 'lost' } as const;
  expect(logsOf(logs)).toBe(logs);
  expect(logsOf(nodeView('a')).sources).toEqual([{ node: 'a', log: null }]);
});
