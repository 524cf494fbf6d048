import { describe, expect, test } from 'vitest';
import type { WorkspaceState } from '../../log-view/model/workspace-state.ts';
import { type CoverageInput, coverageTexts, rateText } from './coverage-line.tsx';

const nowMs = Date.UTC(2026, 10, 15, 11);

const histogram = {
  bucketMs: 1000,
  buckets: [{ startMs: 0, counts: { ERROR: 38, FATAL: 2, WARN: 147, INFO: 9204, DEBUG: 41_880, NONE: 7 } }],
  counted: null,
  members: [],
};

const state: CoverageInput = {
  rows: [],
  follow: { state: 'live', newRecords: 0, newErrors: 0, linesPerSecond: 212.4, lagMs: 40, reason: null },
  histogram,
  filter: { minLevel: 'INFO' },
  top: { kind: 'more' },
  bottom: { kind: 'done', scannedBytes: 0 },
  members: [],
  problems: [],
};

const report = { id: 'a', outcome: 'ok' as const, detail: null, elapsedMs: 1, count: 7, asOfMs: null };

const texts = (change: Partial<WorkspaceState>) => coverageTexts({ ...state, ...change }, { zone: 'utc', nowMs });

describe('the line below the query', () => {
  test('has the number of records, and of how many where the level hides some', () => {
    expect(texts({})).toEqual({ total: '9,391 records', isComplete: true, texts: ['of 51,278'] });
    expect(texts({ filter: {} })).toEqual({ total: '51,278 records', isComplete: true, texts: [] });
    expect(texts({ histogram: null })).toMatchObject({ total: '', isComplete: false });
  });

  test('shows how far back was scanned', () => {
    const reachedMs = Date.UTC(2026, 10, 15, 10, 26);
    expect(texts({ top: { kind: 'stopped', scannedBytes: 2_100_000_000, reachedMs } }).texts.at(-1)).toBe(
      '2.0 GiB read, back to 10:26',
    );
  });

  test('says how many records are from the archive', () => {
    const archive = { count: 5, beforeMs: 1, shippedFromMs: 0, shippedToMs: 2, lostBytes: 0 };
    expect(texts({ members: [report, { ...report, id: 'b', archive }] }).texts.at(-1)).toBe('5 from the archive');
  });

  test('claims that nothing is left out only if that is true', () => {
    const members = [report, { ...report, id: 'b' }];
    const claim = 'all 2 nodes, nothing left out';
    const said = (change: Partial<WorkspaceState>) => texts({ members, ...change }).texts;
    const failed = { ...report, id: 'c', outcome: 'failed' as const };
    expect(said({})).toContain(claim);
    expect(said({ members: [...members, failed] })).toEqual(['of 51,278', '2 of 3 nodes responded']);
    expect(said({ histogram: { ...histogram, counted: { fromMs: 0, toMs: 1 } } })).not.toContain(claim);
    expect(said({ problems: [{ node: 'n', file: 'a', code: 'LOG_FILE_UNREADABLE', detail: '' }] })).not.toContain(
      claim,
    );
    const leftOut = { node: 'n', file: 'core', code: 'LEFT_OUT', detail: 'binary' };
    expect(said({ problems: [leftOut] })).toContain(claim);
  });

  test('partial counts are marked', () => {
    const counted = { fromMs: 0, toMs: 1 };
    expect(texts({ histogram: { ...histogram, counted } })).toMatchObject({
      total: '9,391+ records',
      texts: ['of 51,278+'],
    });
  });
});

test('following has a rate and a lag', () => {
  expect(rateText(state.follow)).toBe('212 lines/s · lag 40 ms');
  expect(rateText({ ...state.follow, state: 'off' })).toBe('');
});
