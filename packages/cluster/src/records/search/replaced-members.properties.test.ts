import { type ClusterEnd, type ClusterRecord, PortholeError, type SearchOptions } from '@porthole/contract';
import type { FoundRecord, SearchItem, SearchQuery } from '@porthole/logs/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MemberSnapshot } from '../../membership/snapshots/member-snapshot.ts';
import { collectResponse } from '../../testing/collect-response.ts';
import { fakeCluster } from '../../testing/fake-cluster.ts';
import { LogDirNode, logLines } from '../../testing/log-dir-node.ts';
import { searchCluster } from './cluster-search.ts';
import { CursorKeeper } from './cursor-keeper.ts';
import type { ClusterSearch } from './search-members.ts';

/** `MORE=20 SEED=random` looks for new cases. */
const MORE = Number(process.env.MORE ?? 1);

const DAY_MS = Date.parse('2026-11-10T00:00:00Z');
const MAX_PAGES = 300;

/** A member that refuses connections while it is down. */
class MortalNode extends LogDirNode {
  isDown = false;

  override async *respond(query: SearchQuery, options: SearchOptions = {}): AsyncGenerator<SearchItem[]> {
    if (this.isDown) {
      const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      throw new PortholeError('UNREACHABLE', 'connect ECONNREFUSED', { cause });
    }
    yield* super.respond(query, options);
  }
}

async function takeSnapshot(node: MortalNode, { skip, length }: { skip: number; length: number }) {
  const records: FoundRecord[] = [];
  const query = { order: 'newest', limit: 1000, before: 0, after: 0, raw: true } as const;
  for await (const items of node.respond(query))
    for (const item of items) if (item.type === 'record') records.push(item);
  return records.slice(skip, skip + length);
}

/** Times in steps of some milliseconds, some of them the same, some out of order. */
const times = fc.array(fc.integer({ min: -2, max: 8 }), { minLength: 1, maxLength: 60 }).map((steps) => {
  let timeMs = DAY_MS;
  return steps.map((step) => {
    timeMs += 10 * step;
    return timeMs;
  });
});

const paging = fc.record({
  order: fc.constantFrom('newest' as const, 'oldest' as const),
  limit: fc.integer({ min: 3, max: 25 }),
  logs: fc.record({ a: times, broker: times, access: times }),
  snapshot: fc.record({ skip: fc.nat(10), length: fc.integer({ min: 0, max: 40 }) }),
  /** Whether it is down, for each page in turn. */
  down: fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
});

interface Pages {
  records: ClusterRecord[];
  last: ClusterEnd;
}

async function allPages(
  { order, limit, logs, snapshot, down }: typeof paging extends fc.Arbitrary<infer T> ? T : never,
  { isLost }: { isLost: boolean },
): Promise<Pages> {
  const [a, b] = [new LogDirNode(), new MortalNode()];
  a.write('a.log', logLines('a', logs.a));
  b.write('broker.log', logLines('broker', logs.broker));
  b.write('access.log', logLines('access', logs.access));
  const limits = { firstBatchMs: 60_000, memberTimeoutMs: 60_000 };
  const deps = fakeCluster({ a, b }, { limits });
  const held: MemberSnapshot = {
    ...{ member: deps.peers.get('b').member, asOfMs: DAY_MS, clock: null, config: null, files: null, departed: null },
    records: await takeSnapshot(b, snapshot),
  };
  const directory = {
    ...deps.directory,
    has: (id: string) => id === 'b',
    of: (id: string) => (id === 'b' ? held : undefined),
  };
  let cursors = new CursorKeeper('here', { containsUpTo: isLost ? 0 : 2000 });
  const query: ClusterSearch = { order, limit, before: 0, after: 0 };
  const records: ClusterRecord[] = [];
  let asked = query;
  for (let page = 0; ; page++) {
    b.isDown = down[page % down.length] ?? false;
    const { records: found, end } = await collectResponse(searchCluster({ ...deps, directory, cursors }, asked));
    records.push(...found);
    if (end.cursor === null) return { records, last: end };
    expect(page).toBeLessThan(MAX_PAGES);
    if (isLost) cursors = new CursorKeeper('here', { containsUpTo: 0 });
    asked = { ...query, start: { cursor: end.cursor } };
  }
}

/** The records of a log that were found, each once. */
function foundOf(records: readonly ClusterRecord[], log: string): number {
  return new Set(records.flatMap(({ message }) => (message.startsWith(`${log}-`) ? message : []))).size;
}

describe('a member whose snapshot is searched on some pages', () => {
  it.each([false, true])(
    'is ok on the last page only if all its records were emitted (positions lost: %s)',
    async (isLost) => {
      await fc.assert(
        fc.asyncProperty(paging, async (given) => {
          const { records, last } = await allPages(given, { isLost });
          expect(foundOf(records, 'a')).toBe(given.logs.a.length);
          const report = last.members.find(({ id }) => id === 'b');
          const isWhole =
            foundOf(records, 'broker') === given.logs.broker.length &&
            foundOf(records, 'access') === given.logs.access.length;
          if (report?.outcome === 'ok') expect(isWhole).toBe(true);
          else expect(report).toMatchObject({ outcome: 'refused', isPartial: true });
          if (!isLost) expect(new Set(records.map(({ message }) => message)).size).toBe(records.length);
        }),
        { numRuns: 25 * MORE },
      );
    },
  );
});
