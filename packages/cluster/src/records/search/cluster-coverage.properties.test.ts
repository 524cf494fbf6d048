import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectResponse } from '../../testing/collect-response.ts';
import { fakeCluster } from '../../testing/fake-cluster.ts';
import { FakeNode, recordsAt, silence } from '../../testing/fake-node.ts';
import { searchCluster } from './cluster-search.ts';

const member = fc.record({
  times: fc.array(fc.integer({ min: 100_000, max: 100_030 }), { maxLength: 12 }),
  offsetMs: fc.constantFrom(0, 7, -13),
  batchRecords: fc.constantFrom(1, 3, 100),
});

describe('the coverage of a search of all members', () => {
  it('is a time range of which no matching record of a responding member is missing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(member, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('newest' as const, 'oldest' as const),
        fc.constantFrom(1, 2, 5, 1000),
        fc.constantFrom(undefined, 1, 2, 5),
        async (members, order, limit, pageRecords) => {
          const ids = members.map((_, index) => `m${index}`);
          // By their own clocks; the true times are those of the sample.
          const nodes = members.map(({ times, offsetMs, batchRecords }, index) => {
            const own = times.toSorted((a, b) => a - b).map((time) => time + offsetMs);
            return [
              ids[index] ?? '',
              new FakeNode({ records: recordsAt(ids[index] ?? '', own), batchRecords }),
            ] as const;
          });
          const clocks = members.map(({ offsetMs }, index) => [ids[index], { offsetMs, uncertaintyMs: 1 }] as const);
          const limits = pageRecords === undefined ? {} : { pageRecords };
          const deps = fakeCluster(Object.fromEntries(nodes), { clocks: Object.fromEntries(clocks), limits });
          const all = members.flatMap(({ times }) => times);
          let cursor: string | null = null;
          for (let page = 0; page < 5; page++) {
            const start = cursor === null ? {} : { start: { cursor } };
            const query = { order, limit, before: 0, after: 0, ...start };
            const { records, end } = await collectResponse(searchCluster(deps, query));
            const { coveredFromMs: fromMs = null, coveredToMs: toMs = null } = end;
            expect(fromMs === null).toBe(toMs === null);
            const inRange = (time: number) => fromMs !== null && toMs !== null && time >= fromMs && time <= toMs;
            const returned = records.map(({ atMs = 0 }) => atMs).filter(inRange);
            expect(returned.toSorted((a, b) => a - b)).toEqual(all.filter(inRange).toSorted((a, b) => a - b));
            if (page === 0 && end.reason === 'exhausted' && all.length > 0)
              expect([fromMs, toMs]).toEqual([Math.min(...all), Math.max(...all)]);
            cursor = end.cursor;
            if (cursor === null) break;
          }
        },
      ),
      { numRuns: runs(30) },
    );
  });

  it('is stated without a member that does not respond, which the report names', async () => {
    const deps = fakeCluster({
      a: new FakeNode({ records: recordsAt('a', [1000, 2000]) }),
      dead: new FakeNode({ search: (_query, { signal }) => silence(signal) }),
    });
    const query = { order: 'newest' as const, limit: 10, before: 0, after: 0 };
    const { end } = await collectResponse(searchCluster(deps, query));
    expect(end).toMatchObject({ coveredFromMs: 1000, coveredToMs: 2000 });
    expect(end.members).toMatchObject([
      { id: 'a', outcome: 'ok', coveredFromMs: 1000, coveredToMs: 2000 },
      { id: 'dead', outcome: 'timeout', coveredFromMs: null, coveredToMs: null },
    ]);
  });
});
