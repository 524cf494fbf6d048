import { describe, expect, test } from 'vitest';
import { edgeText } from './notice-rows.tsx';

const nowMs = Date.UTC(2026, 10, 15, 10, 41);
const top = {
  side: 'top',
  hasRows: true,
  isFiltered: true,
  follow: { state: 'off', newRecords: 0 },
  isBounded: false,
  isLoading: false,
  isOtherDone: true,
  isPartial: false,
  heldRecords: null,
  zone: 'utc',
  nowMs,
} as const;

describe('the text at an end of the rows', () => {
  test('loading is shown after a short delay, with the scanned bytes and a stop button', () => {
    const loading = { kind: 'loading', scannedBytes: 2_100_000_000, reachedMs: nowMs - 15 * 60_000 } as const;
    expect(edgeText({ ...loading, sinceMs: nowMs - 100 }, top)).toMatchObject({ text: '', action: null });
    expect(edgeText({ ...loading, sinceMs: nowMs - 400 }, top)).toMatchObject({
      text: 'scanned 2.0 GiB back to 10:26',
      action: 'stop',
    });
  });

  test('a stopped search without matches says how far it scanned and offers to continue', () => {
    const stopped = { kind: 'stopped', scannedBytes: 2_100_000_000, reachedMs: null } as const;
    expect(edgeText(stopped, { ...top, hasRows: false })).toMatchObject({
      text: 'No match in the last 2.0 GiB',
      label: 'continue',
    });
  });

  test('a failure shows the code and detail of the API', () => {
    expect(edgeText({ kind: 'failed', code: 'NODE_BUSY', detail: 'too many searches' }, top)).toMatchObject({
      text: 'NODE_BUSY: too many searches',
      action: 'retry',
      isProblem: true,
    });
  });

  test('where repeated lines hide how many are loaded, more are loaded on request', () => {
    expect(edgeText({ kind: 'more' }, top)).toMatchObject({ text: '', action: null });
    expect(edgeText({ kind: 'more' }, { ...top, heldRecords: 1000 })).toMatchObject({
      text: '1,000 lines loaded, most of them repeated',
      label: 'load more',
    });
  });

  test.each([
    ['the start', { ...top }, 'start of the log'],
    ['the end', { ...top, side: 'bottom' as const }, 'end of the log'],
    [
      'the end while following',
      { ...top, side: 'bottom' as const, follow: { state: 'live' as const, newRecords: 0 } },
      'Following · new lines appear here',
    ],
    [
      'the end while paused',
      { ...top, side: 'bottom' as const, follow: { state: 'paused' as const, newRecords: 0 } },
      'Paused',
    ],
    [
      'the end while paused, with new lines',
      { ...top, side: 'bottom' as const, follow: { state: 'paused' as const, newRecords: 20 } },
      'Paused · 20 new lines',
    ],
    ['the start of a range', { ...top, isBounded: true }, 'start of the time range'],
    ['an empty log', { ...top, hasRows: false, isFiltered: false }, 'The log is empty'],
    ['an empty time', { ...top, hasRows: false, isFiltered: false, isBounded: true }, 'No records in this time range'],
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
      'No matches in what was read (500 B searched)',
    ],
    [
      'an empty log, but a file could not be read',
      { ...top, hasRows: false, isFiltered: false, isPartial: true },
      'No records in what was read (500 B searched)',
    ],
  ])('a complete end: %s', (_, situation, expected) => {
    expect(edgeText({ kind: 'done', scannedBytes: 500 }, situation).text).toBe(expected);
  });
});
