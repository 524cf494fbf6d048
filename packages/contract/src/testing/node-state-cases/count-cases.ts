import type { DigestQuery, HistogramQuery } from '@porthole/logs/types';
import { expect } from 'vitest';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';
import { BASE_TIME_MS, MANY } from './shared-files.ts';

const HOUR = 3_600_000;

const HISTOGRAMS: readonly [Partial<HistogramQuery>, number][] = [
  [{ src: ['broker.log'] }, 15],
  [{ src: ['broker.log'], buckets: 1 }, 15],
  [{ src: ['broker.log'], buckets: 1000 }, 15],
  [{ src: ['broker.log'], bucketMs: HOUR }, 15],
  [{ src: ['broker.log'], bucketMs: 1 }, 15],
  [{ src: ['broker.log'], bucketMs: 12_345, buckets: 3 }, 15],
  [{ src: ['=broker.log.2.gz'], minLevel: 'WARN' }, 3],
  [{ src: ['broker.log'], fromMs: BASE_TIME_MS, toMs: BASE_TIME_MS + HOUR, terms: ['timeout'] }, 2],
  [{ src: ['broker.log'], regex: 'timeout', excluded: ['goroutine'], caseSensitive: true }, 3],
  [{ src: ['broker.log'], source: 'disk.go', component: 'wal' }, 3],
  [{ src: ['=text.log'] }, 2],
  [{ src: ['server.json.log'], bucketMs: 1000 }, 7],
  [{ src: ['=empty.log'] }, 0],
  [{ fromMs: 0, toMs: 1 }, 1],
  [{ src: ['=many.log'], buckets: 20 }, MANY],
  [{ src: ['=damaged.log.1.gz'], terms: ['nowhere'] }, 0],
];

const DIGESTS: readonly [Partial<DigestQuery>, number][] = [
  [{ src: ['broker.log'] }, 5],
  [{ src: ['broker.log'], limit: 2 }, 5],
  [{ src: ['broker.log'], limit: 1000, newSinceMs: BASE_TIME_MS + 2000 }, 5],
  [{ src: ['broker.log'], newSinceMs: BASE_TIME_MS + 2000, onlyNew: true }, 3],
  [{ src: ['broker.log'], newSinceMs: BASE_TIME_MS + 2000, onlyNew: false }, 5],
  [{ src: ['broker.log'], newSinceMs: 0, onlyNew: true }, 5],
  [{ src: ['=many.log'], minLevel: 'ERROR', terms: ['record'] }, 7],
  [{ src: ['broker.log'], fromMs: BASE_TIME_MS + HOUR, regex: 'timeout', excluded: ['goroutine'] }, 1],
  [{ src: ['broker.log'], source: 'disk.go', component: 'STORAGE', caseSensitive: true, toMs: BASE_TIME_MS + HOUR }, 2],
  [{ src: ['=text.log'] }, 2],
  [{ src: ['=server.json.log'] }, 7],
  [{ src: ['=empty.log'] }, 0],
  [{ src: ['=long.log'] }, 3],
];

/** Records that are counted. */
export const COUNT_CASES: readonly NodeStateCase[] = [
  ...HISTOGRAMS.map(([query, records]) =>
    nodeCase({
      name: `a histogram of ${JSON.stringify(query)} counts ${records}`,
      run: (node) => node.logHistogram({ buckets: 60, ...query }),
      check: ({ buckets, untimed, end }) => {
        const counted = buckets.flatMap(({ counts }) => Object.values(counts)).reduce((sum, count) => sum + count, 0);
        expect([counted + untimed, end.records]).toEqual([records, records]);
      },
    }),
  ),
  ...DIGESTS.map(([query, groups]) =>
    nodeCase({
      name: `a digest of ${JSON.stringify(query)} has ${groups} groups`,
      run: (node) => node.logDigest({ limit: 50, ...query }),
      check: (digest) => {
        expect(digest.totalGroups).toBe(groups);
        expect(digest.groups.length).toBe(Math.min(groups, query.limit ?? 50));
      },
    }),
  ),
  nodeCase({
    name: 'counts of all logs together, without a time budget',
    run: async (node) => [
      await node.logHistogram({ buckets: 10 }, { budgetMs: Infinity }),
      await node.logDigest({ limit: 1000 }, { budgetMs: 60_000 }),
    ],
  }),
  nodeCase({
    name: 'counts of an empty directory are empty',
    files: {},
    run: async (node) => [await node.logHistogram({ buckets: 10 }), await node.logDigest({ limit: 10 })],
    check: (responses) => expect(responses.map(({ end }) => end.records)).toEqual([0, 0]),
  }),
];
