import type { ClusterRecord, MemberClock } from '@porthole/contract';
import type { FoundRecord } from '@porthole/logs/types';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectResponse } from '../../testing/collect-response.ts';
import { fakeCluster } from '../../testing/fake-cluster.ts';
import { FakeNode, record, silence } from '../../testing/fake-node.ts';
import { LogDirNode, logLines } from '../../testing/log-dir-node.ts';
import { searchCluster } from './cluster-search.ts';
import { CursorKeeper } from './cursor-keeper.ts';
import type { ClusterSearch } from './search-members.ts';

const ASKED: ClusterSearch = { order: 'newest', limit: 1000, before: 0, after: 0 };

/** Every cursor is kept, however small. */
const ALWAYS = { containsUpTo: 0 };

/** What happens to the position of a page before the next one: found, expired, or requested from another node. */
type Fate = 'kept' | 'expired' | 'foreign';

const fate = fc.constantFrom<Fate>('kept', 'expired', 'foreign');

interface Paging {
  states: Record<string, FakeNode>;
  clocks?: Record<string, MemberClock>;
  /** Of the node that is asked next. */
  clocksElsewhere?: Record<string, MemberClock>;
  query: ClusterSearch;
  fates: readonly Fate[];
  limits?: Parameters<typeof fakeCluster>[1];
}

async function allPages({ states, clocks = {}, clocksElsewhere = clocks, query, fates }: Paging) {
  const limits = { firstBatchMs: 60_000, memberTimeoutMs: 60_000 };
  const here = fakeCluster(states, { clocks, limits });
  const there = fakeCluster(states, { clocks: clocksElsewhere, limits });
  let keepers = { here: new CursorKeeper('here', ALWAYS), there: new CursorKeeper('there', ALWAYS) };
  let isHere = true;
  const records: ClusterRecord[] = [];
  let asked = query;
  for (let page = 0; ; page++) {
    const deps = isHere ? { ...here, cursors: keepers.here } : { ...there, cursors: keepers.there };
    const { records: found, end } = await collectResponse(searchCluster(deps, asked));
    records.push(...found);
    if (end.cursor === null) return records;
    expect(page).toBeLessThan(200);
    const next = fates[page % fates.length];
    if (next === 'foreign') isHere = !isHere;
    if (next === 'expired')
      keepers = { here: new CursorKeeper('here', ALWAYS), there: new CursorKeeper('there', ALWAYS) };
    asked = { ...query, start: { cursor: end.cursor } };
  }
}

const named = (records: readonly ClusterRecord[]) => records.map(({ node, message }) => `${node} ${message}`);

/** Records of one log: many in a millisecond, some without a time, some out of order. */
const log = fc
  .array(
    fc.record({
      stepMs: fc.constantFrom(0, 0, 1, 2, 700),
      backMs: fc.constantFrom(0, 0, 0, 3, 400),
      isTimed: fc.boolean(),
    }),
    {
      maxLength: 25,
    },
  )
  .map((steps): FoundRecord[] => {
    let atMs = 1_000_000;
    return steps.map(({ stepMs, backMs, isTimed }, index) => {
      atMs += stepMs;
      return record(`r${index}`, isTimed || index % 4 > 0 ? atMs - backMs : Number.NaN, index);
    });
  });

const members = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), log, { minKeys: 1 });
const order = fc.constantFrom('newest', 'oldest');
const pageSize = fc.integer({ min: 1, max: 12 });

const toStates = (logs: Record<string, FoundRecord[]>) =>
  Object.fromEntries(Object.entries(logs).map(([id, records]) => [id, new FakeNode({ records })]));

describe('pages whose positions are kept on a node', () => {
  it('return every record once and in order, whether a position is found, expired, or asked of another node', async () => {
    await fc.assert(
      fc.asyncProperty(
        members,
        order,
        pageSize,
        fc.array(fate, { minLength: 1, maxLength: 5 }),
        async (logs, direction, limit, fates) => {
          const query = { ...ASKED, order: direction };
          const states = toStates(logs);
          const clocks = { b: { offsetMs: 137, uncertaintyMs: 4 } };
          const whole = await allPages({ states, clocks, query, fates: ['kept'] });
          const paged = await allPages({ states, clocks, query: { ...query, limit }, fates });
          expect(named(paged)).toEqual(named(whole));
        },
      ),
      { numRuns: runs(15) },
    );
  });

  it('start at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        members,
        order,
        pageSize,
        fc.array(fate, { minLength: 1, maxLength: 5 }),
        fc.nat(2000),
        async (logs, direction, limit, fates, afterMs) => {
          const query = { ...ASKED, order: direction, start: { timeMs: 1_000_000 + afterMs } };
          const states = toStates(logs);
          const whole = await allPages({ states, query, fates: ['kept'] });
          expect(named(await allPages({ states, query: { ...query, limit }, fates }))).toEqual(named(whole));
        },
      ),
      { numRuns: runs(15) },
    );
  });

  it('lose nothing if the other node sees other clocks', async () => {
    const clock = fc.record({ offsetMs: fc.integer({ min: -30, max: 30 }), uncertaintyMs: fc.constant(40) });
    const clocks = fc.record({ a: clock, b: clock, c: clock, here: clock, there: clock });
    await fc.assert(
      fc.asyncProperty(
        members,
        order,
        clocks,
        clocks,
        fc.array(fate, { minLength: 2, maxLength: 5 }),
        async (logs, direction, one, other, fates) => {
          const states = toStates(logs);
          const query = { ...ASKED, order: direction };
          const whole = await allPages({ states, clocks: one, query, fates: ['kept'] });
          // Larger than what may repeat: a smaller page may come no further, which ends with an error.
          const paged = await allPages({
            states,
            clocks: one,
            clocksElsewhere: other,
            query: { ...query, limit: 40 },
            fates,
          });
          expect([...new Set(named(paged))].sort()).toEqual(named(whole).sort());
        },
      ),
      { numRuns: runs(15) },
    );
  });

  it('continue in real logs, several per member', async () => {
    const [a, b] = [new LogDirNode(), new LogDirNode()];
    const day = Date.parse('2026-11-10T00:00:00Z');
    const times = (count: number, stepMs: number) =>
      Array.from({ length: count }, (_, index) => day + Math.floor(index / 3) * stepMs);
    a.write('broker.log.1', logLines('old', times(20, 900)));
    a.write(
      'broker.log',
      logLines(
        'broker',
        times(30, 900).map((timeMs) => timeMs + 12_000),
      ),
    );
    a.write('access.log', logLines('access', times(25, 1700)));
    b.write('broker.log', logLines('broker', times(30, 1100)));
    b.write('slow.log', logLines('slow', times(11, 3100)));
    const states = { a, b };
    for (const direction of ['newest', 'oldest'] as const) {
      const query = { ...ASKED, order: direction };
      const whole = await allPages({ states, query, fates: ['kept'] });
      expect(whole).toHaveLength(116);
      for (const [limit, fates] of [
        [5, ['expired']],
        [7, ['kept', 'foreign']],
        [30, ['expired', 'kept', 'foreign']],
      ] as const)
        expect(named(await allPages({ states, query: { ...query, limit }, fates }))).toEqual(named(whole));
    }
  });

  it('of a member that was late are not lost with its position', async () => {
    let isSilent = true;
    const late: FakeNode = new FakeNode({
      records: [1, 2, 3].map((timeMs, index) => record(`late${index}`, timeMs, index)),
      search: (query, { signal }) => (isSilent ? silence(signal) : late.respond(query)),
    });
    const records = Array.from({ length: 9 }, (_, index) => record(`r${index}`, index + 10, index));
    const deps = fakeCluster(
      { late, other: new FakeNode({ records }) },
      { limits: { firstBatchMs: 20, memberTimeoutMs: 5000 } },
    );
    const query: ClusterSearch = { ...ASKED, order: 'oldest', limit: 5 };
    const first = await collectResponse(searchCluster({ ...deps, cursors: new CursorKeeper('n', ALWAYS) }, query));
    isSilent = false;
    const start = { cursor: first.end.cursor ?? '' };
    const cursors = new CursorKeeper('n', ALWAYS);
    const patient = { ...deps, limits: { firstBatchMs: 60_000, memberTimeoutMs: 60_000, maxParallel: 64 }, cursors };
    const second = await collectResponse(searchCluster(patient, { ...query, limit: 100, start }));
    expect(named([...first.records, ...second.records]).sort()).toEqual(
      [
        ...records
          .map(({ message }) => `other ${message}`)
          .sort()
          .reverse()
          .reverse(),
        'late late0',
        'late late1',
        'late late2',
      ].sort(),
    );
  });
});
