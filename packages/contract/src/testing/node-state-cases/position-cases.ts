import type { FoundRecord } from '@porthole/logs/types';
import { expect } from 'vitest';
import { type NodeState, searchItems } from '../../node-state.ts';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';
import { itemMessages, recordPositions, search, searchPages, searchQuery } from './responses.ts';
import { BASE_TIME_MS, line, MANY } from './shared-files.ts';

const HOUR = 3_600_000;
const ORDERS = ['newest', 'oldest'] as const;

/** The record with this index in the broker's log, oldest first. */
async function brokerRecord(node: NodeState, number: number): Promise<FoundRecord> {
  const { records } = await search(node, { src: ['broker.log'], order: 'oldest' });
  const record = records[number];
  if (!record) throw new Error(`there is no record ${number}`);
  return record;
}

const STARTS: readonly NodeStateCase[] = ORDERS.flatMap((order) => [
  ...[0, 1, 104, 105, 106, 300, 1_000_000].map((offset) =>
    nodeCase({
      name: `${order} first from byte ${offset} of a file on`,
      run: (node) => search(node, { src: ['=broker.log'], order, start: { offset } }),
      check: ({ records }) => expect(records.length).toBeLessThanOrEqual(5),
    }),
  ),
  nodeCase({
    name: `${order} first from a byte of a compressed file on`,
    run: (node) => search(node, { src: ['=broker.log.2.gz'], order, start: { offset: 200 } }),
    check: ({ records }) => expect(records.length).toBe(order === 'newest' ? 2 : 3),
  }),
  ...[
    0,
    -1,
    -0.5,
    BASE_TIME_MS,
    BASE_TIME_MS + 2000.5,
    BASE_TIME_MS + HOUR + 2000,
    BASE_TIME_MS + 24 * HOUR,
    8.64e15,
  ].map((timeMs) =>
    nodeCase({
      name: `${order} first from ${timeMs} on`,
      run: (node) => search(node, { src: ['broker.log'], order, start: { timeMs } }),
    }),
  ),
  nodeCase({
    name: `${order} first from the epoch on, of all logs`,
    run: (node) => search(node, { order, start: { timeMs: 0 }, limit: 50 }),
  }),
  nodeCase({
    name: `${order} first next to a record, and from the record itself on`,
    run: async (node) => {
      const { cursor } = await brokerRecord(node, 7);
      const next = await search(node, { src: ['broker.log'], order, start: { cursor } });
      const from = await search(node, { src: ['broker.log'], order, start: { record: cursor } });
      return { next, from };
    },
    check: ({ next, from }) => {
      expect(next.records.length).toBe(7);
      expect(from.records.length).toBe(order === 'newest' ? 7 : 8);
    },
  }),
  nodeCase({
    name: `${order} first from one record until another`,
    run: async (node) => {
      const [low, high] = [await brokerRecord(node, 3), await brokerRecord(node, 11)];
      const [first, last] = order === 'newest' ? [high, low] : [low, high];
      return search(node, { src: ['broker.log'], order, start: { cursor: first.cursor }, until: last.cursor });
    },
    check: ({ records }) => expect(records.length).toBe(7),
  }),
]);

/** Logs of two records each, the second ones written after all the first. */
function manyLogs(stem: string): Record<string, string> {
  const names = Array.from({ length: 40 }, (_, index) => `${stem} ${index}.log`);
  const content = (index: number) =>
    line(index, 'INFO', 'a.go:1\tfirst') + line(1000 + index, 'INFO', 'a.go:2\tsecond');
  return Object.fromEntries(names.map((name, index) => [name, content(index)]));
}

const PAGES: readonly NodeStateCase[] = [
  ...ORDERS.flatMap((order) =>
    [1, 2, 4, 15, 16].map((limit) =>
      nodeCase({
        name: `pages of ${limit}, ${order} first, return every record once`,
        run: (node) => searchPages(node, { src: ['broker.log'], order, limit }),
        check: ({ records, ends }) => {
          expect(new Set(recordPositions(records)).size).toBe(15);
          expect(records.length).toBe(15);
          expect(ends.slice(0, -1).every(({ reason }) => reason === 'limit')).toBe(true);
        },
      }),
    ),
  ),
  ...ORDERS.map((order) =>
    nodeCase({
      name: `pages of all logs together, ${order} first, return every record once`,
      run: (node) => searchPages(node, { order, limit: 399 }),
      check: ({ records }) => expect(new Set(recordPositions(records)).size).toBe(records.length),
    }),
  ),
  nodeCase({
    name: 'pages keep their conditions and their context',
    run: (node) =>
      searchPages(node, { limit: 10, terms: ['99 of'], before: 2, after: 1, raw: true, src: ['=many.log'] }),
    check: ({ records, ends }) => expect([records.length, ends.length]).toEqual([MANY / 100, 2]),
  }),
  nodeCase({
    name: 'searches that run out of time return every record once when they are continued',
    run: async (node) => {
      // Each has a little more time, so that even the slowest machine finishes.
      const pages = searchPages(node, { limit: 700, order: 'oldest' }, (page) => ({ budgetMs: 1 + page * page }));
      // How far one gets in so short a time varies.
      return (await pages).records;
    },
    check: (records) => expect(new Set(recordPositions(records)).size).toBe(records.length),
  }),
  ...[Infinity, 3_600_000, 1e12, 5000.5, Number.NaN].map((budgetMs) =>
    nodeCase({
      name: `a search that may take ${budgetMs} ms is not cut`,
      run: (node) => search(node, { src: ['=broker.log'] }, { budgetMs }),
      check: ({ end }) => expect(end.reason).toBe('exhausted'),
    }),
  ),
  nodeCase({
    name: 'pages of many logs together return every record once',
    files: manyLogs('log'),
    run: (node) => searchPages(node, { order: 'oldest', limit: 30 }),
    check: ({ records }) => expect(new Set(recordPositions(records)).size).toBe(80),
  }),
  nodeCase({
    name: 'pages of more logs than fit into a URL return every record once',
    files: manyLogs('a long name '.repeat(16)),
    run: (node) => searchPages(node, { order: 'oldest', limit: 30 }),
    check: ({ records }) => expect(records.length).toBe(80),
  }),
  nodeCase({
    name: 'a cursor still refers to its record after the log was rotated, compressed or has grown',
    files: { 'a.log': 'one\ntwo\nthree\n' },
    run: async (node, dir) => {
      const { end } = await search(node, { src: ['a.log'], order: 'oldest', limit: 2 });
      const start = { cursor: end.cursor ?? '' };
      dir.append('a.log', 'four\n');
      const grown = await search(node, { src: ['a.log'], order: 'oldest', start });
      dir.rename('a.log', 'a.log.1');
      dir.write('a.log', 'five\n');
      return { grown, rotated: await search(node, { src: ['a.log'], order: 'oldest', start }) };
    },
    check: ({ grown, rotated }) => {
      expect(itemMessages(grown.records)).toEqual(['three', 'four']);
      expect(itemMessages(rotated.records)).toEqual(['three', 'four', 'five']);
    },
  }),
];

const LEAVING: readonly NodeStateCase[] = [
  nodeCase({
    name: 'a search can be left after its first records, and the node still responds',
    run: async (node) => {
      const seen: string[] = [];
      for await (const batch of searchItems(node, searchQuery({ order: 'oldest', src: ['=many.log'] }))) {
        for (const item of batch) if (item.type === 'record' && seen.length === 0) seen.push(item.message);
        if (seen.length > 0) break;
      }
      for await (const _ of node.search(searchQuery())) break;
      const unread = node.search(searchQuery())[Symbol.asyncIterator]();
      await unread.return?.();
      return { seen, next: await search(node, { src: ['=text.log'] }) };
    },
    check: ({ seen, next }) => {
      expect(seen).toEqual([`record 0 of ${MANY}`]);
      expect(next.records.length).toBe(2);
    },
  }),
];

/** Where a search starts and ends, and how it is continued. */
export const POSITION_CASES: readonly NodeStateCase[] = [...STARTS, ...PAGES, ...LEAVING];
