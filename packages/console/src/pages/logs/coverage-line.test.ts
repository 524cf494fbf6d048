import { describe, expect, test } from 'vitest';
import type { WorkspaceState } from '../../log-view/model/workspace-state.ts';
import { chipCounts } from './find-bar.tsx';
import { type StatusInput, statusTexts } from './status.tsx';

const nowMs = Date.UTC(2026, 10, 15, 11);

const histogram = {
  bucketMs: 1000,
  buckets: [{ startMs: 0, counts: { ERROR: 38, FATAL: 2, WARN: 147, INFO: 9204, DEBUG: 41_880, NONE: 7 } }],
  counted: null,
  members: [],
};

const state: StatusInput['state'] = {
  rows: [],
  extent: { kind: 'bytes', totalBytes: 10_100_000_000, firstMs: null, lastMs: null },
  follow: { state: 'live', newRecords: 0, newErrors: 0, linesPerSecond: 212.4, lagMs: 40, reason: null },
  histogram,
  filter: { minLevel: 'INFO' },
  top: { kind: 'more' },
  bottom: { kind: 'done', scannedBytes: 0 },
  members: [],
  problems: [],
};

const record = {
  ...{ type: 'record' as const, node: 'n', file: 'f', offset: 0, bytes: 1, cursor: 'c', message: '' },
  atMs: Date.UTC(2026, 10, 15, 10, 41, 6, 882),
};

const input: StatusInput = { state, record, fraction: 0.832, zone: 'utc', nowMs };

const withState = (change: Partial<WorkspaceState>) => statusTexts({ ...input, state: { ...state, ...change } });

describe('the status bar', () => {
  test('shows position, rate, lag and hidden records', () => {
    expect(statusTexts(input)).toEqual([
      '10:41:06.882 · 83.2 % of 10 GB',
      '212 lines/s',
      'lag 40 ms',
      '41,887 hidden by level',
    ]);
  });

  test('shows the date of other days', () => {
    const older = { ...record, atMs: Date.UTC(2026, 10, 14, 10) };
    expect(statusTexts({ ...input, record: older })[0]).toMatch(/^14 Nov 2026 10:00:00\.000/);
  });

  test('shows how far back was scanned', () => {
    const reachedMs = Date.UTC(2026, 10, 15, 10, 26);
    expect(withState({ top: { kind: 'stopped', scannedBytes: 2_100_000_000, reachedMs } }).at(-1)).toBe(
      'scanned 2.1 GB back to 10:26',
    );
  });

  test('says how many records are from the archive', () => {
    const report = { id: 'a', outcome: 'ok' as const, detail: null, elapsedMs: 1, count: 7, asOfMs: null };
    const archive = { count: 5, beforeMs: 1, shippedFromMs: 0, shippedToMs: 2, lostBytes: 0 };
    expect(withState({ members: [report, { ...report, id: 'b', archive }] }).at(-1)).toBe('5 from the archive');
  });

  test('claims that every match is shown only if that is true', () => {
    const top = { kind: 'done', scannedBytes: 118_000_000 } as const;
    const scanned = (change: Partial<WorkspaceState>) => withState({ top, ...change }).at(-1);
    const failed = { id: 'n2', outcome: 'failed' as const, detail: null, elapsedMs: 0, count: 0, asOfMs: null };
    const gap = { kind: 'gap', key: 'g', node: null, text: '', isLoading: false } as const;
    expect(scanned({})).toBe('scanned 118 MB · every match is shown');
    expect(scanned({ bottom: { kind: 'more' } })).toBe('scanned 118 MB');
    expect(scanned({ bottom: { kind: 'stopped', scannedBytes: 1, reachedMs: null } })).toBe('scanned 118 MB');
    expect(scanned({ members: [failed] })).toBe('scanned 118 MB');
    expect(scanned({ problems: [{ node: 'n', file: 'a', code: 'LOG_FILE_UNREADABLE', detail: '' }] })).toBe(
      'scanned 118 MB',
    );
    const leftOut = { node: 'n', file: 'core', code: 'LEFT_OUT', detail: 'binary' };
    expect(scanned({ problems: [leftOut] })).toBe('scanned 118 MB · every match is shown');
    expect(scanned({ rows: [gap] })).toBe('scanned 118 MB');
  });

  test('partial counts are marked', () => {
    const counted = { fromMs: 0, toMs: 1 };
    expect(withState({ histogram: { ...histogram, counted } })).toContain('41,887+ hidden by level');
  });

  test('has no rate when not following', () => {
    expect(withState({ follow: { ...state.follow, state: 'off' } }).join()).not.toContain('lines/s');
  });
});

describe('level chips', () => {
  test('are pressed down to the minimum level; the others show how many are hidden', () => {
    expect(chipCounts(histogram, 'WARN')).toMatchObject([
      { letter: 'E', count: 40, isShown: true },
      { letter: 'W', count: 147, isShown: true },
      { letter: 'I', count: 9204, isShown: false },
      { letter: 'D', count: 41_887, isShown: false },
    ]);
  });

  test('show that there may be more after a partial count', () => {
    const members = [{ id: 'n2', outcome: 'timeout' as const, detail: null, elapsedMs: 0, count: 0, asOfMs: null }];
    expect(chipCounts(histogram, null).some(({ isPartial }) => isPartial)).toBe(false);
    expect(chipCounts({ ...histogram, counted: { fromMs: 0, toMs: 1 } }, null)[0]).toMatchObject({ isPartial: true });
    expect(chipCounts({ ...histogram, members }, null)[0]).toMatchObject({ isPartial: true });
  });

  test('are all pressed without a minimum level', () => {
    expect(chipCounts(null, null).every(({ isShown, count }) => isShown && count === null)).toBe(true);
  });
});
