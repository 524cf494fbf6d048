import { renameSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterEnd, ClusterRecord } from '@porthole/contract';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectResponse } from '../../testing/collect-response.ts';
import { fakeCluster } from '../../testing/fake-cluster.ts';
import { FakeNode, recordsAt, silence } from '../../testing/fake-node.ts';
import { LogDirNode, logLines } from '../../testing/log-dir-node.ts';
import type { ClusterDeps } from './cluster-deps.ts';
import { searchCluster } from './cluster-search.ts';
import type { ClusterSearch } from './search-members.ts';

const ASKED: ClusterSearch = { order: 'newest', limit: 1000, before: 0, after: 0 };
const DAY_MS = Date.parse('2026-11-10T00:00:00Z');

interface Pages {
  records: ClusterRecord[];
  ends: ClusterEnd[];
}

async function allPages(
  deps: ClusterDeps,
  query: ClusterSearch,
  between: (page: number) => void = () => {},
): Promise<Pages> {
  const pages: Pages = { records: [], ends: [] };
  let asked = query;
  for (let page = 1; ; page++) {
    const { records, end } = await collectResponse(searchCluster(deps, asked));
    expect(records.length).toBeLessThanOrEqual(query.limit);
    pages.records.push(...records);
    pages.ends.push(end);
    if (end.cursor === null) return pages;
    between(page);
    asked = { ...query, start: { cursor: end.cursor } };
  }
}

const named = (records: readonly ClusterRecord[]) => records.map(({ node, message }) => `${node} ${message}`);

/** Two members with two logs each, one of them rotated; b's clock is a minute ahead. */
function twoNodes() {
  const [a, b] = [new LogDirNode(), new LogDirNode({ zone: 'Asia/Kolkata' })];
  const times = (count: number, stepMs: number, fromMs = DAY_MS) =>
    Array.from({ length: count }, (_, index) => fromMs + index * stepMs);
  a.write('broker.log.1', logLines('old', times(15, 700)));
  a.write('broker.log', logLines('broker', times(25, 900, DAY_MS + 12_000)));
  a.write('access.log', logLines('access', times(20, 1700)));
  const aheadInKolkata = 60_000 + 5.5 * 3_600_000;
  b.write('broker.log', logLines('broker', times(30, 1100), aheadInKolkata));
  b.write('slow.log', logLines('slow', times(11, 3100), aheadInKolkata));
  // A machine that is busy must not make them late.
  const limits = { firstBatchMs: 60_000, memberTimeoutMs: 60_000 };
  const deps = fakeCluster({ a, b }, { clocks: { b: { offsetMs: 60_000, uncertaintyMs: 2 } }, limits });
  return { a, b, parts: deps };
}

it('the first record of a page is unsure where it would be in one page', async () => {
  const times = [1000, 2000, 3000, 4000];
  const [a, b] = [new FakeNode({ records: recordsAt('a', times) }), new FakeNode({ records: recordsAt('b', times) })];
  const clock = { offsetMs: 0, uncertaintyMs: 5 };
  const deps = fakeCluster({ a, b }, { clocks: { a: clock, b: clock } });
  for (const order of ['newest', 'oldest'] as const) {
    const whole = await allPages(deps, { ...ASKED, order });
    expect(whole.records.filter(({ isUnsure }) => isUnsure)).not.toEqual([]);
    for (const limit of [1, 2, 3]) {
      const { records } = await allPages(deps, { ...ASKED, order, limit });
      expect(records.map(({ isUnsure }) => isUnsure)).toEqual(whole.records.map(({ isUnsure }) => isUnsure));
    }
  }
});

describe('the pages of a search of the cluster', () => {
  it('return every record of every member exactly once and in order, whatever their size', async () => {
    const { parts: deps } = twoNodes();
    for (const order of ['newest', 'oldest'] as const) {
      const whole = await collectResponse(searchCluster(deps, { ...ASKED, order }));
      expect(whole.records).toHaveLength(101);
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 120 }), async (size) => {
          const limit = Math.max(size, 7);
          const { records } = await allPages(deps, { ...ASKED, order, limit });
          expect(named(records)).toEqual(named(whole.records));
        }),
        { numRuns: runs(2) },
      );
    }
  });

  it('begin at a time in all logs, also in those without a record on the first page', async () => {
    const { parts: deps } = twoNodes();
    for (const order of ['newest', 'oldest'] as const) {
      const query = { ...ASKED, order, start: { timeMs: DAY_MS + 13_000 } };
      const whole = await collectResponse(searchCluster(deps, query));
      const { records } = await allPages(deps, { ...query, limit: 5 });
      expect(named(records)).toEqual(named(whole.records));
    }
  });

  it('continue in one log of each member, and with filters', async () => {
    const { parts: deps } = twoNodes();
    for (const part of [{ src: ['broker.log'] }, { terms: ['-1'] }, { fromMs: DAY_MS + 5000, toMs: DAY_MS + 20_000 }]) {
      const whole = await collectResponse(searchCluster(deps, { ...ASKED, ...part }));
      expect(whole.records.length).toBeGreaterThan(10);
      expect(named((await allPages(deps, { ...ASKED, ...part, limit: 4 })).records)).toEqual(named(whole.records));
    }
  });

  it('newest first, repeat nothing while logs grow and are rotated', async () => {
    const { a, parts: deps } = twoNodes();
    const whole = await collectResponse(searchCluster(deps, ASKED));
    const { records } = await allPages(deps, { ...ASKED, limit: 30 }, (page) => {
      const times = [DAY_MS + 86_400_000 + page];
      a.append('broker.log', logLines(`new${page}`, times));
      a.append('access.log', logLines(`new${page}`, times));
      if (page !== 2) return;
      renameSync(join(a.dir, 'broker.log.1'), join(a.dir, 'broker.log.2'));
      renameSync(join(a.dir, 'broker.log'), join(a.dir, 'broker.log.1'));
      a.write('broker.log', logLines('rotated', [DAY_MS + 86_500_000]));
    });
    expect(named(records)).toEqual(named(whole.records));
  });

  it('report a departed member, and start a new one where the others are', async () => {
    const nodes = ['a', 'b'].map(
      (id) => [id, new FakeNode({ records: recordsAt(id, [10, 20, 30, 40, 50, 60]) })] as const,
    );
    const deps = fakeCluster(Object.fromEntries(nodes));
    const { records, ends } = await allPages(deps, { ...ASKED, limit: 4 }, (page) => {
      if (page !== 1) return;
      deps.set('b', undefined);
      deps.set('c', new FakeNode({ records: recordsAt('c', [15, 45, 55, 65]) }));
    });
    expect(records.map(({ message }) => message)).toEqual(['a5', 'b5', 'a4', 'b4', 'c1', 'a3', 'a2', 'a1', 'c0', 'a0']);
    expect(ends[1]?.members.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['a', 'ok'],
      ['b', 'gone'],
      ['c', 'ok'],
    ]);
  });

  it('continue with a member that failed, where it broke off', async () => {
    let isBroken = true;
    const flaky: FakeNode = new FakeNode({
      records: recordsAt('f', [10, 20, 30, 40]),
      batchRecords: 1,
      async *search(query, { signal }) {
        for await (const batch of flaky.respond(query)) {
          yield batch;
          if (isBroken && batch[0]?.type === 'record' && batch[0].timeMs === 30) yield* silence(signal);
        }
      },
    });
    const deps = fakeCluster(
      { f: flaky, g: new FakeNode({ records: recordsAt('g', [15, 25]) }) },
      { limits: { memberTimeoutMs: 50 } },
    );
    const { records, ends } = await allPages(deps, ASKED, () => {
      isBroken = false;
    });
    expect(records.map(({ message }) => message)).toEqual(['f3', 'f2', 'g1', 'g0', 'f1', 'f0']);
    expect(ends.map(({ members }) => members.map(({ outcome }) => outcome))).toEqual([
      ['timeout', 'ok'],
      ['ok', 'ok'],
    ]);
  });

  it('come to an end if a member never responds', async () => {
    const dead = new FakeNode({ search: (_query, { signal }) => silence(signal) });
    const deps = fakeCluster(
      { a: new FakeNode({ records: recordsAt('a', [1, 2, 3]) }), dead },
      { limits: { firstBatchMs: 10 } },
    );
    const { records, ends } = await allPages(deps, { ...ASKED, limit: 2 });
    expect([records.length, ends.length]).toEqual([3, 2]);
    expect(ends.map(({ members }) => members[1]?.outcome)).toEqual(['timeout', 'timeout']);
  });

  it('of one order do not continue in the other', async () => {
    const deps = fakeCluster({ a: new FakeNode({ records: recordsAt('a', [1, 2, 3]) }) });
    const { end } = await collectResponse(searchCluster(deps, { ...ASKED, limit: 1 }));
    const start = { cursor: end.cursor ?? '' };
    const other = collectResponse(searchCluster(deps, { ...ASKED, order: 'oldest', start }));
    await expect(other).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
  });
});
