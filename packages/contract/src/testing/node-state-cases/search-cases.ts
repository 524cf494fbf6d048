import type { SearchQuery } from '@porthole/logs/types';
import { expect } from 'vitest';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';
import { recordPositions, type SearchResult, search } from './responses.ts';
import { BASE_TIME_MS, ODD_NAME } from './shared-files.ts';

const HOUR = 3_600_000;

/** A search of the shared directory, and how many records it finds. */
function finds(records: number, query: Partial<SearchQuery>, more: Partial<NodeStateCase<SearchResult>> = {}) {
  return nodeCase<SearchResult>({
    name: `a search for ${formatQuery(query)} finds ${records}`,
    run: (node) => search(node, query),
    check: (response) => {
      expect(response.records.length).toBe(records);
      expect(response.end.records).toBe(records);
    },
    ...more,
  });
}

function formatQuery(query: Partial<SearchQuery>): string {
  const text = JSON.stringify(query);
  return text.length < 120 ? text : `${text.slice(0, 120)}...`;
}

const SELECTIONS: readonly NodeStateCase[] = [
  finds(10, { limit: 10 }),
  finds(5, { src: ['=broker.log'] }),
  finds(5, { src: ['=broker.log.2.gz'] }),
  finds(15, { src: ['broker.log'] }),
  finds(15, { src: ['broker.log'], order: 'oldest' }),
  finds(7, { src: ['server.json.log'], order: 'oldest', raw: true }),
  finds(2, { src: ['=kubelet.log'], raw: true }),
  finds(2, { src: ['text.log'], raw: true }),
  finds(2, { src: ['=crlf.log'], raw: true }),
  finds(1, { src: ['=open.log'], raw: true }),
  finds(2, { src: ['=bytes.log'], raw: true }),
  finds(2, { src: ['=zip.log.gz'] }),
  finds(1, { src: [`=${ODD_NAME}`], raw: true }),
  finds(1, { src: [ODD_NAME] }),
  finds(0, { src: ['=empty.log'] }),
  finds(0, { src: ['empty.log'] }),
  nodeCase({
    name: 'a damaged file returns what can be read of it, and the problem is reported',
    run: (node) => search(node, { src: ['=damaged.log.1.gz'] }),
    check: ({ end }) => expect(end.problems).toMatchObject([{ file: 'damaged.log.1.gz', code: 'LOG_FILE_CORRUPT' }]),
  }),
  nodeCase({
    name: 'records that are too long are cut, and so is their raw text',
    run: (node) => search(node, { src: ['=long.log'], raw: true, order: 'oldest' }),
    check: ({ records }) => {
      expect(records[0]).toMatchObject({ offset: 0, cut: true });
      expect(records.some(({ continued }) => continued)).toBe(true);
    },
  }),
  nodeCase({
    name: 'everything of all logs, in both orders, is the same records',
    run: async (node) => ({ newest: await search(node), oldest: await search(node, { order: 'oldest' }) }),
    check: ({ newest, oldest }) => {
      expect(recordPositions(newest.records).sort()).toEqual(recordPositions(oldest.records).sort());
      expect(newest.end.reason).toBe('exhausted');
    },
  }),
  nodeCase({
    name: 'a search with context and text returns both with each record',
    run: (node) => search(node, { raw: true, before: 1, limit: 200 }),
    check: ({ records }) => expect(records.length).toBe(200),
  }),
];

const FILTERS: readonly NodeStateCase[] = [
  finds(5, { src: ['broker.log'], fromMs: BASE_TIME_MS + HOUR, toMs: BASE_TIME_MS + 2 * HOUR }),
  finds(4, { src: ['broker.log'], toMs: BASE_TIME_MS + 2001 }),
  finds(6, { src: ['broker.log'], fromMs: BASE_TIME_MS + HOUR + 600_000 }),
  finds(
    5,
    { src: ['broker.log'], fromMs: BASE_TIME_MS + 600_000.5, toMs: BASE_TIME_MS + HOUR + 600_000.5 },
    { name: 'a search between parts of milliseconds leaves out what is before, and nothing that is not' },
  ),
  finds(1, { fromMs: 0, toMs: 1 }, { name: 'a search from the epoch itself finds the record of that instant' }),
  finds(1, { fromMs: -1, toMs: 1 }, { name: 'a search from before the epoch finds what is after it' }),
  finds(0, { fromMs: -8.64e15, toMs: 0 }, { name: 'a search until the epoch finds nothing' }),
  finds(5, { src: ['=broker.log'], fromMs: -8.64e15, toMs: 8.64e15 }, { name: 'a search of all times there are' }),
  ...(['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'] as const).map((minLevel, index) =>
    finds([15, 15, 12, 9, 6, 3][index] ?? 0, { src: ['broker.log'], minLevel }),
  ),
  finds(6, { src: ['broker.log'], terms: ['timeout'] }),
  finds(3, { src: ['broker.log'], terms: ['timeout'], caseSensitive: true }),
  finds(6, { src: ['broker.log'], terms: ['timeout'], caseSensitive: false }),
  finds(3, { src: ['broker.log'], terms: ['timeout', 'goroutine'] }),
  finds(3, { src: ['broker.log'], terms: ['timeout'], excluded: ['goroutine'] }),
  finds(9, { src: ['broker.log'], excluded: ['timeout'] }),
  finds(15, { src: ['broker.log'], terms: [], excluded: [] }),
  finds(15, { src: ['broker.log'], terms: [''] }),
  finds(2, { src: ['=bytes.log'], terms: ['\0'] }),
  finds(1, { src: ['=server.json.log'], terms: ['🙂', 'emoji'] }),
  finds(3, { src: ['broker.log'], terms: ['main()\n\n\tat'] }),
  finds(1, { src: ['=crlf.log'], terms: ['Windows\r\nmore'] }),
  finds(0, { terms: ['100%', 'a+b&c=d#e?', '"\\', ' '] }),
  finds(1, { terms: ['odd.go:1\tthe name'] }),
  nodeCase<SearchResult>({
    name: 'half a character does not match, and does not match other invalid bytes',
    run: (node) => search(node, { src: ['=bytes.log'], excluded: ['\ud800'] }),
    check: ({ end }) => expect(end.reason).toBe('exhausted'),
    differs: {
      http: 'half a character cannot be sent: it arrives as the sign for what is no character',
    },
  }),
  finds(3, { src: ['broker.log'], regex: 'write (failed|done): \\w+$' }),
  finds(6, { src: ['broker.log'], regex: 'timeout' }),
  finds(3, { src: ['broker.log'], regex: 'timeout', caseSensitive: true }),
  finds(3, { src: ['broker.log'], regex: '^\\s+at (main)\\(\\)$' }),
  finds(15, { src: ['broker.log'], regex: '' }),
  finds(0, { regex: '[+&%#=] \\+ é' }),
  finds(3, { src: ['broker.log'], source: 'storage/disk.go:7' }),
  finds(6, { src: ['broker.log'], source: 'disk.go' }),
  finds(0, { src: ['broker.log'], source: 'isk.go' }),
  finds(6, { src: ['broker.log'], component: 'storage' }),
  finds(3, { src: ['broker.log'], component: 'WAL', minLevel: 'WARN' }),
  finds(1, {
    src: ['broker.log'],
    fromMs: BASE_TIME_MS + HOUR,
    toMs: BASE_TIME_MS + 2 * HOUR,
    minLevel: 'WARN',
    terms: ['write'],
    excluded: ['nothing'],
    regex: 'timeout',
    source: 'disk.go:9',
    component: 'Storage',
    raw: true,
  }),
  finds(
    0,
    { terms: Array.from({ length: 16 }, (_, n) => `term ${n} ${'ä'.repeat(20)}`), excluded: Array(16).fill('x') },
    { name: 'a search for as many texts as there may be' },
  ),
  finds(
    0,
    { terms: ['x'.repeat(1024)], regex: 'y'.repeat(2048) },
    { name: 'a search for texts as long as they may be' },
  ),
];

const CONTEXT: readonly NodeStateCase[] = [
  finds(3, { src: ['broker.log'], terms: ['goroutine'], before: 1, after: 2 }),
  finds(3, { src: ['broker.log'], order: 'oldest', terms: ['goroutine'], before: 100, after: 0, raw: true }),
  finds(3, { src: ['broker.log'], minLevel: 'FATAL', before: 0, after: 100 }),
  nodeCase({
    name: 'records around a record stop at the ends of its log, and are returned oldest first',
    run: (node) => search(node, { src: ['broker.log'], terms: ['started, part 0'], before: 3, after: 2 }),
    check: ({ records: [record] }) => {
      expect(record?.before).toEqual([]);
      expect(record?.after?.map(({ level }) => level)).toEqual(['DEBUG', 'WARN']);
    },
  }),
];

/** Every condition of a search. */
export const SEARCH_CASES: readonly NodeStateCase[] = [...SELECTIONS, ...FILTERS, ...CONTEXT];
