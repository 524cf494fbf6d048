import type { FieldsQuery, FoundRecord, SearchQuery, TopQuery } from '@porthole/logs/types';
import { expect } from 'vitest';
import { parseQuery } from '../../query/parse-query.ts';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';
import { parsedQuery, type SearchResult, search } from './responses.ts';
import { BASE_TIME_MS, MANY } from './shared-files.ts';

const HOUR = 3_600_000;
const BROKER = { src: ['broker.log'] } as const;
const JSON_LOG = { src: ['=server.json.log'] } as const;

/** Conditions by field, as text of the query language, and how many records meet them. */
const QUERIES: readonly [number, Partial<SearchQuery>, string][] = [
  [15, BROKER, ''],
  [3, BROKER, 'port=9000'],
  [3, BROKER, 'context.port=9000.0'],
  [0, BROKER, 'port=900'],
  [0, BROKER, 'port!=9000'],
  [12, BROKER, '-port=9000'],
  [3, BROKER, 'port:*'],
  [3, BROKER, 'tls=null'],
  [3, BROKER, 'ms=2.5'],
  [3, BROKER, 'ms < 0'],
  [0, BROKER, 'ms>2.5'],
  [6, BROKER, 'level>=error'],
  [6, BROKER, 'level!=debug level<error'],
  [6, BROKER, 'component:storage'],
  [6, BROKER, 'source:disk.go'],
  [3, BROKER, 'source=storage/disk.go:7'],
  [3, BROKER, 'message:/^gone, part \\d$/'],
  [3, BROKER, 'message:wri* -goroutines'],
  [6, BROKER, 'timeout'],
  [3, BROKER, '"timeout"c'],
  [3, BROKER, 'timeout -goroutine'],
  [6, BROKER, '(port=9000 OR level=fatal)'],
  [3, BROKER, 'NOT (level<=error OR -gone)'],
  [3, BROKER, '/write (failed|done)/'],
  [1, { ...BROKER, toMs: BASE_TIME_MS + HOUR, minLevel: 'WARN', terms: ['write'] }, 'component=Storage'],
  [3, { ...BROKER, caseSensitive: true }, 'timeout'],
  [1, JSON_LOG, 'big=12345678901234567890'],
  [0, JSON_LOG, 'big=12345678901234567891'],
  [1, JSON_LOG, 'third>0.09 third<0.11'],
  [1, JSON_LOG, 'nested.a=x nested.a.b:*'],
  [1, JSON_LOG, 'context.type=end'],
  [1, { src: ['=kubelet.log'] }, 'pod="default/web" n>=3'],
];

/** Counts by value: the values, how many records have others, and how many none. */
const TOPS: readonly [
  Omit<TopQuery, 'limit'> & { limit?: number },
  Readonly<Record<string, number>>,
  number,
  number,
][] = [
  [{ ...BROKER, by: 'level' }, { DEBUG: 3, ERROR: 3, FATAL: 3, INFO: 3, WARN: 3 }, 0, 0],
  [{ ...BROKER, by: 'component' }, { Broker: 6, Storage: 6, wal: 3 }, 0, 3],
  [{ ...BROKER, by: 'context.port' }, { 9000: 3 }, 0, 12],
  [{ ...BROKER, by: 'ms', limit: 2 }, { '-3': 3, 1: 3 }, 3, 12],
  [{ ...BROKER, by: 'level', values: ['INFO', 'NONE'] }, { INFO: 3 }, 12, 0],
  [{ ...BROKER, by: 'level', minLevel: 'ERROR', buckets: 10 }, { ERROR: 3, FATAL: 3 }, 0, 0],
  [{ ...BROKER, by: 'level', query: parsedQuery('disk.go'), bucketMs: HOUR, limit: 1 }, { ERROR: 3 }, 3, 0],
  [{ src: ['=many.log'], by: 'level' }, { INFO: 900, ERROR: 300, WARN: 300 }, 0, 0],
  [{ src: ['=many.log'], by: 'nothing' }, {}, 0, MANY],
  [{ ...JSON_LOG, by: 'big' }, { '12345678901234567890': 1 }, 0, 6],
  [{ src: ['=empty.log'], by: 'level' }, {}, 0, 0],
];

/** Fields, and how many of the records have them. */
const FIELDS: readonly [Omit<FieldsQuery, 'limit'> & { limit?: number }, Readonly<Record<string, number>>][] = [
  [BROKER, { level: 15, message: 15, source: 15, component: 12, ms: 3, port: 3, tls: 3 }],
  [
    { ...BROKER, limit: 2 },
    { level: 15, message: 15 },
  ],
  [
    { ...BROKER, query: parsedQuery('port:*') },
    { component: 3, level: 3, message: 3, port: 3, source: 3, tls: 3 },
  ],
  [{ src: ['=kubelet.log'] }, { level: 2, message: 2, source: 2, thread: 2, n: 1, pod: 1 }],
  [{ src: ['=empty.log'] }, {}],
];

/** Records by field. */
export const QUERY_CASES: readonly NodeStateCase[] = [
  ...QUERIES.map(([records, given, text]) =>
    nodeCase<SearchResult>({
      name: `a search of ${JSON.stringify(given)} for ${text} finds ${records}`,
      run: (node) => search(node, withQuery(given, text)),
      check: ({ records: found }) => expect(found.length).toBe(records),
    }),
  ),
  ...TOPS.map(([query, values, others, missing]) =>
    nodeCase({
      name: `counts by value of ${JSON.stringify(query)}`,
      run: (node) => node.logTop({ limit: 10, ...query }),
      check: (top) => {
        expect(Object.fromEntries(top.values.map(({ value, count }) => [value, count]))).toEqual(values);
        expect([top.others, top.missing, top.isExact]).toEqual([others, missing, true]);
        const isOverTime = query.buckets !== undefined || query.bucketMs !== undefined;
        for (const { count, buckets = [] } of isOverTime ? top.values : [])
          expect(buckets.reduce((sum, bucket) => sum + bucket.count, 0)).toBe(count);
        expect(top.bucketMs !== undefined).toBe(isOverTime);
      },
    }),
  ),
  ...FIELDS.map(([query, names]) =>
    nodeCase({
      name: `the fields of ${JSON.stringify(query)}`,
      run: (node) => node.logFields({ limit: 100, ...query }),
      check: ({ fields }) => {
        expect(Object.fromEntries(fields.map(({ name, records }) => [name, records]))).toEqual(names);
      },
    }),
  ),
  nodeCase<(FoundRecord['fields'] | undefined)[]>({
    name: 'records have the fields that were asked for',
    run: async (node) => {
      const chosen = await search(node, {
        src: ['=broker.log'],
        order: 'oldest',
        fields: ['port', 'ms', 'level', 'no'],
      });
      const all = await search(node, { ...JSON_LOG, order: 'oldest', fields: ['*'] });
      return [...chosen.records, ...all.records].map(({ fields }) => fields);
    },
    check: ([first, , third, , , ...all]) => {
      expect([first, third]).toEqual([
        { port: 9000, level: 'INFO' },
        { ms: [1, 2.5, -3], level: 'WARN' },
      ]);
      expect(all[2]).toMatchObject({ big: '12345678901234567890', third: 0.1 });
    },
    differs: { grpc: 'half a character cannot be sent: it arrives as the sign for what is no character' },
  }),
  nodeCase({
    name: 'a histogram and a digest count the records that match a query',
    run: async (node) => {
      const query = parsedQuery('component=storage level<error');
      const { end } = await node.logHistogram({ ...BROKER, buckets: 10, query });
      return [end.records, (await node.logDigest({ ...BROKER, limit: 10, query })).groups.map(({ count }) => count)];
    },
    check: (counts) => expect(counts).toEqual([3, [3]]),
  }),
];

function withQuery(given: Partial<SearchQuery>, text: string): Partial<SearchQuery> {
  const query = parseQuery(text);
  return query === undefined ? given : { ...given, query };
}
