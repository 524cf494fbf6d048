import { describe, expect, test } from 'vitest';
import { edgeText } from './edge-text.ts';

const nowMs = Date.UTC(2026, 10, 15, 10, 41);
const top = {
  side: 'top',
  hasRows: true,
  isFiltered: true,
  follow: 'off',
  isBounded: false,
  isLoading: false,
  isOtherDone: true,
  isPartial: false,
  zone: 'utc',
  nowMs,
} as const;

describe('what stands at an end of the rows', () => {
  test('loading is told only after a moment, with what was scanned and a way to stop', () => {
    const loading = { kind: 'loading', scannedBytes: 2_100_000_000, reachedMs: nowMs - 15 * 60_000 } as const;
    expect(edgeText({ ...loading, sinceMs: nowMs - 100 }, top)).toMatchObject({ text: '', action: null });
    expect(edgeText({ ...loading, sinceMs: nowMs - 400 }, top)).toMatchObject({
      text: 'scanned 2.1 GB back to 10:26',
      action: 'stop',
    });
  });

  test('a search that found nothing yet says how far it looked and goes on when asked', () => {
    const stopped = { kind: 'stopped', scannedBytes: 2_100_000_000, reachedMs: null } as const;
    expect(edgeText(stopped, { ...top, hasRows: false })).toMatchObject({
      text: 'No match in the last 2.1 GB',
      label: 'scan older',
    });
  });

  test('a failure has the code and the detail of the interface', () => {
    expect(edgeText({ kind: 'failed', code: 'NODE_BUSY', detail: 'too many searches' }, top)).toMatchObject({
      text: 'NODE_BUSY: too many searches',
      action: 'retry',
      isProblem: true,
    });
  });

  test.each([
    ['the start', { ...top }, 'start of the log'],
    ['the end', { ...top, side: 'bottom' as const }, 'end of the log'],
    [
      'the end while following',
      { ...top, side: 'bottom' as const, follow: 'live' as const },
      'following · new lines appear here',
    ],
    ['the end while paused', { ...top, side: 'bottom' as const, follow: 'paused' as const }, 'paused · new lines wait'],
    ['the start of a range', { ...top, isBounded: true }, 'start of the time range'],
    ['an empty log', { ...top, hasRows: false, isFiltered: false }, 'The log is empty'],
    ['not yet', { ...top, hasRows: false, isLoading: true }, ''],
    ['no match', { ...top, hasRows: false }, 'No matches (500 B searched)'],
    [
      'no match while the other end was not scanned',
      { ...top, hasRows: false, isOtherDone: false },
      'No older matches (500 B searched)',
    ],
    [
      'no match, but a node did not respond',
      { ...top, hasRows: false, isPartial: true },
      'No matches (500 B searched) · not every node or file could be searched',
    ],
    [
      'an empty log, but a file could not be read',
      { ...top, hasRows: false, isFiltered: false, isPartial: true },
      'No records (500 B searched) · not every node or file could be searched',
    ],
  ])('where nothing is left it is told: %s', (_, situation, expected) => {
    expect(edgeText({ kind: 'done', scannedBytes: 500 }, situation).text).toBe(expected);
  });
});
