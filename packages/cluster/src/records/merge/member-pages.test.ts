import type { SearchEnd, SearchQuery } from '@porthole/logs/types';
import { batchOf, isBatch } from '@porthole/records';
import { describe, expect, it } from 'vitest';
import { collectResponse } from '../../testing/collect-response.ts';
import { fakeCluster } from '../../testing/fake-cluster.ts';
import { endItem, FakeNode, recordsAt } from '../../testing/fake-node.ts';
import { searchCluster } from '../search/cluster-search.ts';
import { firstPage, type LaneItem, type PageEnd, searchInPages } from './member-pages.ts';

const ASKED: SearchQuery = { order: 'oldest', limit: 400, before: 0, after: 0 };
const HERE = {};
const { signal } = new AbortController();

/** Ends, and the number of records between them. */
async function collect(pages: AsyncIterable<LaneItem>): Promise<(number | SearchEnd | PageEnd)[]> {
  const all: (number | SearchEnd | PageEnd)[] = [];
  let records = 0;
  for await (const item of pages) {
    if (isBatch(item)) records += item.ends.length;
    else {
      all.push(records, item);
      records = 0;
    }
  }
  return all;
}

describe('members of a search', () => {
  it.each([
    [{ limit: 10_000 }, 1000, 15],
    [{ limit: 10_000 }, 3, 5000],
    [{ limit: 100 }, 1000, 8],
    [{ limit: 100 }, 8, 25],
    // All at once: there are few, little is requested, or records share their context.
    [{ limit: 100 }, 7, undefined],
    [{ limit: 10_000 }, 2, undefined],
    [{ limit: 31 }, 1000, undefined],
    [{ limit: 10_000, before: 1 }, 1000, undefined],
    [{ limit: Infinity }, 1000, undefined],
  ])('of %j over %i are asked for %s records first', (query, members, records) => {
    expect(firstPage(query, members)).toBe(records);
  });

  it('are asked for more only if what they sent is used up', async () => {
    const quiet = Array.from({ length: 39 }, (_, index) => {
      const records = recordsAt(
        'quiet',
        Array.from({ length: 100 }, (_, at) => 1_000_000 + at),
      );
      return [`q${index}`, new FakeNode({ records })] as const;
    });
    const times = Array.from({ length: 1000 }, (_, at) => at);
    const loud = new FakeNode({ records: recordsAt('loud', times) });
    const deps = fakeCluster({ ...Object.fromEntries(quiet), loud });
    const { records, end } = await collectResponse(searchCluster(deps, ASKED));
    expect(records.map(({ atMs }) => atMs)).toEqual(times.slice(0, 400));
    expect(loud.searches.map(({ limit }) => limit)).toEqual([20, 80, 300]);
    for (const [, node] of quiet) expect(node.searches.map(({ limit }) => limit)).toEqual([20]);
    expect(end.reason).toBe('limit');
  });
});

describe('a search in pages', () => {
  it('has one end, of all of them', async () => {
    const node = new FakeNode({ records: recordsAt('', [5, 5, 5, 7, 9]) });
    const problem = { file: 'b.log', code: 'UNREADABLE', detail: 'no' } as const;
    const search = async function* (query: SearchQuery) {
      for await (const item of node.search(query)) yield isBatch(item) ? item : { ...item, problems: [problem] };
    };
    const options = { query: ASKED, peer: HERE, signal, pageRecords: 2, budgetMs: 1000 };
    const items = await collect(searchInPages(search, options));
    const covered = { coveredFromMs: 5, coveredToMs: 9 };
    expect(items).toMatchObject([2, { type: 'page' }, 3, { type: 'end' }]);
    expect(items.at(-1)).toMatchObject({ reason: 'exhausted', scannedBytes: 20, ...covered, problems: [problem] });
  });

  it('ends when its pages have used up the time of the scan', async () => {
    const budgets: number[] = [];
    const search = async function* ({ limit }: SearchQuery, { budgetMs }: { budgetMs: number }) {
      budgets.push(budgetMs);
      const cursor = 'c';
      yield batchOf(recordsAt('', Array(limit).fill(1)));
      yield endItem({ records: limit, cursor, elapsedMs: 40 });
    };
    const options = { query: ASKED, peer: HERE, signal, pageRecords: 2, budgetMs: 100 };
    const items = await collect(searchInPages(search, options));
    expect(budgets).toEqual([100, 60, 20]);
    expect(items.at(-1)).toMatchObject({ type: 'end', reason: 'time budget', cursor: 'c' });
  });

  it('has one page if the member only has the ends of its files', async () => {
    const node = new FakeNode({ records: recordsAt('', [1, 2, 3, 4]) });
    const peer = { isPorthole: async () => false };
    const options = { query: ASKED, peer, signal, pageRecords: 2, budgetMs: 1000 };
    const items = await collect(searchInPages((query) => node.search(query), options));
    expect(items).toMatchObject([4, { type: 'end' }]);
    expect(node.searches.map(({ limit }) => limit)).toEqual([400]);
  });
});
