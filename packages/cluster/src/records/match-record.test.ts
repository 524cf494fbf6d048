import type { FoundRecord, SearchQuery } from '@porthole/logs/types';
import { describe, expect, it } from 'vitest';
import { matchesRecord } from './match-record.ts';

const RECORD: FoundRecord = {
  type: 'record',
  file: 'broker.log.1',
  offset: 0,
  bytes: 10,
  cursor: 'c',
  timeMs: 1000,
  level: 'WARN',
  source: 'query/leaf.go:61',
  tags: ['Query', 'Leaf'],
  message: 'slow query\nof a client',
  context: { took: '3s' },
};

const query = (conditions: Partial<SearchQuery>): SearchQuery => ({
  order: 'newest',
  limit: 10,
  before: 0,
  after: 0,
  ...conditions,
});

describe('a record that is only known as it was told', () => {
  it.each<Partial<SearchQuery>>([
    {},
    { file: 'broker.log.1' },
    { family: 'broker.log' },
    { fromMs: 1000, toMs: 1001 },
    { minLevel: 'WARN' },
    { minLevel: 'INFO' },
    { terms: ['SLOW', 'client'] },
    { terms: ['3s'] },
    { terms: ['slow'], caseSensitive: true },
    { excluded: ['fast'] },
    { source: 'leaf.go' },
    { source: 'leaf.go:61' },
    { source: 'query/leaf.go:61' },
    { component: 'leaf' },
  ])('meets %j', (conditions) => {
    expect(matchesRecord(RECORD, query(conditions))).toBe(true);
  });

  it.each<Partial<SearchQuery>>([
    { file: 'broker.log' },
    { family: 'storage.log' },
    { fromMs: 1001 },
    { toMs: 1000 },
    { minLevel: 'ERROR' },
    { terms: ['slow', 'fast'] },
    { terms: ['SLOW'], caseSensitive: true },
    { excluded: ['query'] },
    { source: 'eaf.go:61' },
    { source: 'leaf.go:6' },
    { component: 'lea' },
    { regex: 'slow' },
  ])('does not meet %j', (conditions) => {
    expect(matchesRecord(RECORD, query(conditions))).toBe(false);
  });

  it('without a time is in no range of time, without a level at no level', () => {
    const { timeMs: _time, level: _level, ...bare } = RECORD;
    expect(matchesRecord(bare, query({}))).toBe(true);
    expect(matchesRecord(bare, query({ fromMs: 0 }))).toBe(false);
    expect(matchesRecord(bare, query({ minLevel: 'TRACE' }))).toBe(false);
  });
});
