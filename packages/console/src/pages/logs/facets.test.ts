import type { QueryNode } from '@porthole/logs/query';
import { describe, expect, it } from 'vitest';
import type { TopResult } from '../../log-view/source/log-source.ts';
import { hiddenBelow } from '../../log-view/source/log-source.ts';
import { ALL_LOGS, type LogsView } from '../../state/view.ts';
import {
  clickPattern,
  emptyText,
  examinedText,
  facetLines,
  fieldText,
  filterFields,
  isLogShown,
  levelCounts,
  memberSelections,
  mergePatterns,
  nodeCounts,
  partText,
  toggledLog,
  toggledNode,
} from './facets.tsx';

const top: TopResult = {
  by: 'shard',
  values: [
    { value: '13', count: 6000 },
    { value: '7', count: 3000 },
  ],
  ...{ others: 500, missing: 500, distinct: 5, isExact: true, counted: null, members: [] },
};

describe('lines below a field', () => {
  it('are its values, the others and what lacks it', () => {
    expect(facetLines(top)).toEqual([
      { kind: 'value', value: '13', text: '13', count: '6,000', share: 0.6 },
      { kind: 'value', value: '7', text: '7', count: '3,000', share: 0.3 },
      { kind: 'others', value: '', text: '3 other values', count: '500', share: 0.05 },
      { kind: 'missing', value: '', text: 'without shard', count: '500', share: 0.05 },
    ]);
    expect(facetLines({ ...top, values: [], others: 0, missing: 0 })).toEqual([]);
  });

  it('mark what is estimated', () => {
    const estimated = { ...top, values: [{ value: '13', count: 6000, error: 40 }], isExact: false, missing: 0 };
    expect(facetLines(estimated).map(({ text, count, title }) => [text, count, title])).toEqual([
      ['13', '≥ 6,000', 'between 6,000 and 6,040'],
      ['~ 4 other values', '≤ 500', 'estimated'],
    ]);
  });
});

it('counts are marked where not everything was counted', () => {
  const member = { id: 'n2', outcome: 'timeout' as const, detail: null, elapsedMs: 1, count: 0, asOfMs: null };
  for (const part of [{ members: [member] }, { counted: { fromMs: 0, toMs: 0 } }]) {
    expect(facetLines({ ...top, ...part }).map(({ count }) => count)).toEqual(['6,000+', '3,000+', '500+', '500+']);
    expect(emptyText({ ...top, ...part })).toBe('No record matches in what was read');
  }
  expect(emptyText(top)).toBe('No record matches');
});

const field = {
  name: 'http.status',
  types: ['number' as const],
  records: 9,
  distinct: 1,
  isDistinctExact: true,
  examples: [],
};

it('a field says its type and number of values', () => {
  expect(fieldText(field)).toBe('number · 1 value');
  expect(fieldText({ ...field, types: [], distinct: 1204, isDistinctExact: false })).toBe('~ 1,204 values');
  const merged = { ...field, types: [], distinct: 1204, isDistinctExact: false, nodes: { a: 1, b: 1 } };
  expect(fieldText(merged)).toBe('≥ 1,204 values');
});

it('a sample and a part are said to be one', () => {
  const fields = { fields: [field], totalFields: 1, records: 1204, isSample: false, counted: null, members: [] };
  expect(examinedText(fields)).toBe('1,204 records');
  expect(examinedText({ ...fields, isSample: true })).toBe('Sample of 1,204 records');
  expect(examinedText({ ...fields, records: 1, counted: { fromMs: 0, toMs: 0 } })).toBe('1+ records');
  const nowMs = Date.UTC(2026, 10, 16, 15);
  expect(partText(null, 'utc', nowMs)).toBeNull();
  expect(partText({ fromMs: 0, toMs: 0 }, 'utc', nowMs)).toBe('Scan stopped (time budget)');
  expect(partText({ fromMs: nowMs - 3_600_000, toMs: nowMs }, 'utc', nowMs)).toBe(
    'Scan stopped (time budget): only 14:00 to 15:00',
  );
});

it('fields are found by a part of their name', () => {
  expect(filterFields([field], ' STAT ')).toEqual([field]);
  expect(filterFields([field], 'x')).toEqual([]);
});

const histogram = {
  bucketMs: 1,
  buckets: [
    { startMs: 0, counts: { ERROR: 2, INFO: 10, NONE: 3 } },
    { startMs: 1, counts: { FATAL: 1, WARN: 4, DEBUG: 5, TRACE: 6 } },
  ],
  counted: null,
  members: [],
};

describe('counts per level', () => {
  it.each([
    [null, 0],
    ['TRACE', 3],
    ['INFO', 14],
    ['ERROR', 28],
  ] as const)('a least level of %s hides %d', (minLevel, hidden) => {
    expect(hiddenBelow(histogram, minLevel)).toBe(hidden);
  });

  it('are of those shown, and of those hidden, FATAL apart from ERROR', () => {
    expect(levelCounts(histogram, 'WARN').map(({ name, count, isShown }) => [name, count, isShown])).toEqual([
      ['Fatal', 1, true],
      ['Error', 2, true],
      ['Warn', 4, true],
      ['Info', 10, false],
      ['Debug', 5, false],
      ['Trace', 6, false],
      ['No level', 3, false],
    ]);
    expect(levelCounts(null, null).every(({ isShown, count }) => isShown && count === null)).toBe(true);
  });

  it('say that there may be more after a partial count', () => {
    const members = [{ id: 'n2', outcome: 'timeout' as const, detail: null, elapsedMs: 0, count: 0, asOfMs: null }];
    expect(levelCounts(histogram, null).some(({ isPartial }) => isPartial)).toBe(false);
    expect(levelCounts({ ...histogram, counted: { fromMs: 0, toMs: 1 } }, null)[0]?.isPartial).toBe(true);
    expect(levelCounts({ ...histogram, members }, null)[0]?.isPartial).toBe(true);
    // None found in a part is no number.
    const counted = levelCounts({ ...histogram, buckets: [], members }, null).map(({ count }) => count);
    expect(counted).toEqual([null, null, null]);
  });
});

it('the first chosen node is shown alone, and the last one taken away shows all', () => {
  const [a, b] = [
    { node: 'a', log: null },
    { node: 'b', log: null },
  ];
  expect(toggledNode([], 'a')).toEqual([a]);
  expect(toggledNode([a], 'b')).toEqual([a, b]);
  expect(toggledNode([a, { node: 'b', log: { kind: 'file', name: 'x' } }], 'b')).toEqual([a]);
  expect(toggledNode([a], 'a')).toEqual([]);
  const log = { kind: 'family', name: 'x.log' } as const;
  expect(toggledNode([{ node: '*', log }], 'a')).toEqual([{ node: 'a', log }]);
});

it('a log is chosen instead of all logs of its node, and beside other chosen ones', () => {
  const log = (node: string, name: string) => ({ node, log: { kind: 'family', name } as const });
  const whole = { node: 'a', log: null };
  expect(toggledLog([], 'a', 'x.log')).toEqual([log('a', 'x.log')]);
  expect(toggledLog([whole, { node: 'b', log: null }], 'a', 'x.log')).toEqual([
    { node: 'b', log: null },
    log('a', 'x.log'),
  ]);
  expect(toggledLog([log('a', 'x.log')], 'a', 'y.log')).toEqual([log('a', 'x.log'), log('a', 'y.log')]);
  expect(toggledLog([log('a', 'x.log')], 'a', 'x.log')).toEqual([]);
  expect(toggledLog([{ node: '*', log: null }], 'a', 'x.log')).toEqual([log('a', 'x.log')]);
  const isShown = (sources: Parameters<typeof isLogShown>[0]) => isLogShown(sources, 'a', 'x.log');
  expect([[], [whole], [log('*', 'x.log')]].map(isShown)).toEqual([true, true, true]);
  expect([[log('a', 'y.log')], [log('b', 'x.log')]].map(isShown)).toEqual([false, false]);
});

describe('a pattern is included, and then excluded', () => {
  const click = (source: string | null, term: QueryNode, own: Partial<LogsView>) => {
    let changed = {};
    clickPattern({ source }, term, {
      view: { ...ALL_LOGS, ...own },
      change: (part) => {
        changed = part;
      },
    });
    return changed;
  };

  it('by its call site', () => {
    const term = { kind: 'field', field: 'source', operator: '=', value: 'a.go:1' } as const;
    expect(click('a.go:1', term, {})).toEqual({ callSite: 'a.go:1' });
    expect(click('a.go:1', term, { callSite: 'a.go:1', query: 'x=1' })).toEqual({
      callSite: null,
      query: 'x=1 -source=a.go:1',
    });
  });

  it('by what its messages have in common, and then left out of the query', () => {
    const text = (value: string) => ({ kind: 'text', text: value }) as const;
    const term = { kind: 'and', nodes: [text('is full'), text('pool')] } as const;
    const queries = ['', '"is full" pool', '-("is full" pool)', 'x=1', 'x=1 ("is full" pool)', 'x=1 -("is full" pool)'];
    expect(queries.map((query) => click(null, term, { query }))).toEqual([
      { query: '"is full" pool' },
      { query: '-("is full" pool)' },
      { query: '' },
      { query: 'x=1 ("is full" pool)' },
      { query: 'x=1 -("is full" pool)' },
      { query: 'x=1' },
    ]);
  });
});

it('counts are summed by node; those of a log that names none are of its node', () => {
  const buckets = [{ startMs: 0, counts: { INFO: 3 }, nodes: { a: 1, b: 2 } }];
  expect([...nodeCounts({ buckets: [...buckets, ...buckets] })]).toEqual([
    ['a', 2],
    ['b', 4],
  ]);
  expect([...nodeCounts(histogram, 'n1')]).toEqual([['n1', 31]]);
  expect([...nodeCounts(histogram)]).toEqual([]);
});

it('patterns of several logs are counted log by log, each of the nodes where it is chosen', () => {
  const log = (node: string, name: string) => ({ node, log: { kind: 'family', name } }) as const;
  const sources = [log('a', 'x'), log('b', 'x'), log('b', 'y'), { node: 'c-*', log: null }, log('c-1', 'x')];
  expect(memberSelections({ sources, labels: ['zone=eu'] })).toEqual([
    { nodes: ['a', 'b'], labels: ['zone=eu'], src: ['x'] },
    { nodes: ['b'], labels: ['zone=eu'], src: ['y'] },
    { nodes: ['c-*'], labels: ['zone=eu'] },
  ]);
  expect(memberSelections({ sources: [], labels: [] })).toEqual([{}]);
});

it('the same pattern of several logs is one', () => {
  type Group = Parameters<typeof mergePatterns>[0][number]['groups'][number];
  const group = (shape: string, count: number) => ({ level: 'ERROR', source: null, shape, count }) as unknown as Group;
  const merged = mergePatterns([
    { groups: [group('lost *', 3), group('slow *', 9)], members: [] },
    { groups: [group('lost *', 8)], members: [] },
  ]);
  expect(merged.groups.map(({ shape, count }) => [shape, count])).toEqual([
    ['lost *', 11],
    ['slow *', 9],
  ]);
});
