import { createHash } from 'node:crypto';
import { codeOf } from '@porthole/contract';
import { packCursor, unpackCursor } from '@porthole/logs';
import { describe, expect, it } from 'vitest';
import { collectResponse } from '../../testing/collect-response.ts';
import { fakeCluster } from '../../testing/fake-cluster.ts';
import { FakeNode, recordsAt } from '../../testing/fake-node.ts';
import type { ClusterPosition } from './cluster-cursor.ts';
import { searchCluster } from './cluster-search.ts';
import { CursorKeeper, KeptCursors, type SearchPosition } from './cursor-keeper.ts';
import type { BehindMembers } from './reach.ts';

const MARGIN_MS = 1000;

function search(count: number, behind: readonly BehindMembers[] = []): SearchPosition {
  const hash = (at: number) => createHash('sha256').update(String(at)).digest('hex').slice(0, 16);
  const ids = Array.from({ length: count }, (_, at) => `member-${at}.rack-${at % 40}.example.org:7300`);
  const members = ids.map((id, at) => [id, { cursor: `${hash(at)}.sg.${at}.1xyz${at}.1s.YnJva2VyLmxvZw` }] as const);
  const position: ClusterPosition = {
    order: 'newest',
    reachedMs: 5,
    members: new Map(members),
    lastNode: ids[0] ?? '',
  };
  const reach = { timeMs: 5, count: 1, node: ids[0] ?? '', marginMs: MARGIN_MS, behind };
  return { position, reach, progress: { furthestMs: 5, stalls: 0 } };
}

const measured = (found: SearchPosition, { offsetMs = 0, uncertaintyMs = 1 } = {}) => ({
  order: 'newest' as const,
  ids: [...found.position.members.keys()],
  clocks: { of: () => ({ offsetMs, uncertaintyMs }) },
});

const KEPT = { kind: 'kept', order: 'newest' } as const;

describe('a cursor over many members', () => {
  it.each([10, 100, 1000, 10_000])('has at most 2,000 characters and is found again: %i members', (count) => {
    const found = search(count);
    const keeper = new CursorKeeper('self');
    const cursor = keeper.encode(found, measured(found));
    expect(cursor.length).toBeLessThanOrEqual(2000);
    expect(cursor).toMatch(/^[\w.-]+$/);
    expect(keeper.decode(cursor, measured(found)).position).toEqual(found.position);
    expect(keeper.usage.count).toBe(count > 10 ? 1 : 0);
  });

  it('names members that are behind, up to hundreds; then all continue where the last of them is', () => {
    for (const [count, groups] of [
      [300, 300],
      [3000, 0],
    ] as const) {
      const behind = Array.from({ length: count }, (_, at) => ({
        timeMs: 100 + at,
        count: 0,
        ids: new Set([`x${at}`.padStart(4, '_')]),
      }));
      const found = search(1000, behind);
      const cursor = new CursorKeeper('self').encode(found, measured(found));
      expect(cursor.length).toBeLessThanOrEqual(2000);
      const { reach } = new CursorKeeper('self').decode(cursor, measured(found));
      expect(reach?.behind.flatMap(({ ids }) => [...ids])).toHaveLength(groups);
      expect(Math.max(reach?.timeMs ?? 0, ...(reach?.behind ?? []).map(({ timeMs }) => timeMs ?? 0))).toBe(99 + count);
    }
  });

  it('continues exactly by the same clocks, and earlier by what is uncertain about others', () => {
    const found = search(1000);
    const cursor = new CursorKeeper('self').encode(found, measured(found));
    const lost = new CursorKeeper('self');
    expect(lost.decode(cursor, measured(found))).toMatchObject({ position: undefined, reach: found.reach });
    const { reach } = lost.decode(cursor, measured(found, { offsetMs: 3, uncertaintyMs: 20 }));
    expect(reach).toEqual({ timeMs: 5 + 1 + 20, count: 0, marginMs: MARGIN_MS, behind: [] });
  });

  it('is refused, with a way out, if it comes no further because its positions are lost again and again', () => {
    const found = { ...search(1000), progress: { furthestMs: 5, stalls: 8 } };
    const cursor = new CursorKeeper('self').encode(found, measured(found));
    expect(() => new CursorKeeper('self').decode(cursor, measured(found, { offsetMs: 3 }))).toThrow(
      /lost 8 times.*search again from 1970.*larger limit/,
    );
  });

  it('is refused where a part of it is not valid', () => {
    const found = search(1000);
    const cursor = new CursorKeeper('self').encode(found, measured(found));
    const values = unpackCursor(KEPT, cursor);
    const bad = [null, -2, 1e99, '', 'x'.repeat(1000), {}, [], [1], [[1, 2, 3]], [[1, 2, 'abc']], 'no', 7.5, true];
    const keeper = new CursorKeeper('self');
    for (let at = 0; at < values.length; at++) {
      for (const value of bad) {
        let code = 'taken';
        try {
          const { reach, position } = keeper.decode(packCursor(KEPT, values.with(at, value)), measured(found));
          expect(position).toBeUndefined();
          expect([reach?.count, reach?.marginMs].every((number) => Number(number) >= 0)).toBe(true);
        } catch (error) {
          code = codeOf(error);
        }
        expect(['taken', 'CURSOR_INVALID']).toContain(code);
      }
    }
    for (const text of [packCursor(KEPT, []), packCursor(KEPT, [...values, 1]), cursor.slice(0, -9)])
      expect(() => keeper.decode(text, measured(found))).toThrow(expect.objectContaining({ code: 'CURSOR_INVALID' }));
  });

  it('over 10,000 members leads to the next page, also where it is not kept', async () => {
    const ids = Array.from({ length: 10_000 }, (_, at) => `m${String(at).padStart(5, '0')}`);
    const states = Object.fromEntries(
      ids.map((id, at) => [id, new FakeNode({ records: recordsAt(id, [at, 20_000]) })]),
    );
    const limits = { firstBatchMs: 600_000, memberTimeoutMs: 600_000, maxParallel: 10_000 };
    const deps = fakeCluster(states, { limits });
    const query = { order: 'oldest', limit: 9000, before: 0, after: 0 } as const;
    const first = await collectResponse(searchCluster({ ...deps, cursors: new CursorKeeper('a') }, query));
    const cursor = first.end.cursor ?? '';
    expect(cursor.length).toBeLessThan(2000);
    const next = { ...query, limit: 3, start: { cursor } };
    const second = await collectResponse(searchCluster({ ...deps, cursors: new CursorKeeper('b') }, next));
    expect(second.records.map(({ message }) => message)).toEqual(['m090000', 'm090010', 'm090020']);
  });
});

describe('kept positions', () => {
  const text = (count: number) => 'x'.repeat(count);

  it('expire after their last use', () => {
    let nowMs = 0;
    const kept = new KeptCursors({ maxAgeMs: 1000, nowMs: () => nowMs });
    const [used, unused] = [kept.keep(text(10), 'a'), kept.keep(text(10), 'a')];
    nowMs = 900;
    expect(kept.find(used ?? '')).toEqual(text(10));
    nowMs = 1500;
    expect(kept.find(unused ?? '')).toBeUndefined();
    expect(kept.find(used ?? '')).toEqual(text(10));
    expect(kept.usage).toEqual({ count: 1, bytes: 10 });
    nowMs = 3000;
    expect(kept.find(used ?? '')).toBeUndefined();
    expect(kept.usage).toEqual({ count: 0, bytes: 0 });
  });

  it('are limited per client: one that never stops pushes out only its own', () => {
    const kept = new KeptCursors({ maxCount: 100, maxBytes: 10_000 });
    const others = ['b', 'c'].map((client) => kept.keep(text(100), client) ?? '');
    const own = Array.from({ length: 1000 }, () => kept.keep(text(100), 'a') ?? '');
    expect(kept.usage.count).toBe(27);
    expect(own.filter((id) => kept.find(id)).length).toBe(25);
    expect(kept.find(own.at(-1) ?? '')).toBeDefined();
    for (const id of others) expect(kept.find(id)).toBeDefined();
  });

  it('are limited over all clients, the largest gives first', () => {
    const kept = new KeptCursors({ maxCount: 1000, maxBytes: 10_000 });
    const first = kept.keep(text(50), 'small') ?? '';
    for (let client = 0; client < 200; client++) kept.keep(text(1000), `client-${client}`);
    expect(kept.usage.bytes).toBeLessThanOrEqual(10_000);
    expect(kept.find(first)).toBeDefined();
    expect(kept.keep(text(2501), 'one')).toBeUndefined();
  });

  it('cannot be guessed, and are not found by other texts', () => {
    const kept = new KeptCursors();
    const ids = new Set(Array.from({ length: 500 }, () => kept.keep(text(1), 'a')));
    expect(ids.size).toBe(500);
    for (const id of ['', '__proto__', 'constructor', 'x'.repeat(10_000)]) expect(kept.find(id)).toBeUndefined();
  });
});
