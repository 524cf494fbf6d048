import type { ClusterRecord, Level } from '@porthole/client';
import { formatQuery } from '@porthole/contract';
import { describe, expect, test } from 'vitest';
import { countPattern, patternOf, patternSpan, pickNearbyRecords, recordTimeText } from './details.tsx';

const makeRecord = (node: string, atMs: number, level: Level = 'INFO'): ClusterRecord => ({
  type: 'record',
  node,
  file: 'f',
  offset: 0,
  bytes: 1,
  cursor: `${node}${atMs}`,
  message: '',
  level,
  atMs,
  timeMs: atMs,
});

describe('records of other nodes around a time', () => {
  const record = makeRecord('a', 1000);

  test('exclude the node of the record and are in order of time', () => {
    const items = [makeRecord('b', 1200), makeRecord('a', 1000), makeRecord('c', 900)];
    expect(pickNearbyRecords(items, record).map(({ node }) => node)).toEqual(['c', 'b']);
  });

  test('repeated messages are shown once', () => {
    const items = [makeRecord('b', 1500), makeRecord('b', 1100), makeRecord('b', 700)];
    expect(pickNearbyRecords(items, record).map(({ atMs }) => atMs)).toEqual([1100]);
  });

  test('errors take precedence over nearer records', () => {
    const near = Array.from({ length: 50 }, (_, index) => ({ ...makeRecord('b', 1000 + index), message: `${index}` }));
    const picked = pickNearbyRecords([...near, makeRecord('c', 2900, 'ERROR')], record);
    expect(picked.length).toBeLessThan(20);
    expect(picked.at(-1)).toMatchObject({ node: 'c', level: 'ERROR' });
  });
});

describe('a call site', () => {
  test('is counted over the last minutes, or those before an older record', () => {
    const nowMs = 10_000_000;
    expect(patternSpan(nowMs - 1000, nowMs)).toEqual({ fromMs: nowMs - 900_000, toMs: nowMs, text: '15 min' });
    expect(patternSpan(1_000_000, nowMs)).toMatchObject({ fromMs: 100_000, toMs: 1_000_001 });
  });

  test('is that of its call site, or of what its message shares with others', () => {
    const record = { ...makeRecord('a', 0), level: 'WARN', message: 'pool 7 of db-1 is full after 3 s' } as const;
    const queryOf = (own: object) => formatQuery(patternOf({ ...record, ...own }) ?? { kind: 'and', nodes: [] });
    expect(queryOf({})).toBe('level=warn "is full after" pool');
    expect(queryOf({ source: 'pool.go:3' })).toBe('source=pool.go:3');
    expect(patternOf({ ...record, message: '1 2 3' })).toBeUndefined();
  });

  test('sums its groups over nodes and names those that did not respond', () => {
    const group = (count: number, firstMs: number, nodes: Record<string, number>) => ({
      ...{ level: null, source: 'a.go:1', shape: null, count, firstMs, lastMs: null, isNew: false, nodes },
      sample: makeRecord('a', 0),
    });
    const report = { detail: null, elapsedMs: 0, count: 0, asOfMs: null };
    const members = [
      { id: 'a', outcome: 'ok' as const, ...report },
      { id: 'b', outcome: 'refused' as const, ...report, asOfMs: 1 },
      { id: 'z', outcome: 'timeout' as const, ...report },
    ];
    expect(countPattern({ groups: [group(3, 500, { a: 1, b: 2 }), group(4, 400, { b: 4 })], members })).toEqual({
      count: 7,
      nodes: ['b', 'a'],
      firstMs: 400,
      silent: ['z'],
      isPartial: true,
    });
  });
});

describe('the time of a record', () => {
  const record = makeRecord('a', Date.UTC(2026, 10, 15, 10, 41, 6, 882));

  test('shows its correction and uncertainty', () => {
    const late = { ...record, timeMs: (record.timeMs ?? 0) - 2 };
    const clock = { offsetMs: -2, uncertaintyMs: 4 };
    expect(recordTimeText(late, clock, 'utc')).toBe('15 Nov 2026 10:41:06.882 · +0.002 s corrected ± 0.004 s');
  });

  test('shows no correction if there is none', () => {
    expect(recordTimeText(record, { offsetMs: 0, uncertaintyMs: 0 }, 'utc')).toBe('15 Nov 2026 10:41:06.882');
    expect(recordTimeText(record, null, 'utc')).toBe('15 Nov 2026 10:41:06.882');
  });

  test('may be missing', () => {
    const { atMs: _, timeMs: __, ...bare } = record;
    expect(recordTimeText(bare, null, 'utc')).toBe('no timestamp');
  });
});
