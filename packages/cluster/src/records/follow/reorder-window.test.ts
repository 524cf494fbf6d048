import type { ClusterFollowItem } from '@porthole/contract';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HeldMember, ReorderWindow } from './reorder-window.ts';

const member = (id: string): HeldMember => ({ id, uncertaintyMs: 0, held: 0, heldBytes: 0 });
const record = (node: string, atMs: number): ClusterFollowItem => ({
  type: 'record',
  node,
  atMs,
  file: 'a.log',
  offset: 0,
  bytes: 1,
  cursor: `${node}.${atMs}`,
  message: '',
});

function takeAll(window: ReorderWindow): ClusterFollowItem[] {
  const all: ClusterFollowItem[] = [];
  for (let items = window.take(Infinity); items.length > 0; items = window.take(Infinity)) all.push(...items);
  return all;
}

describe('the window in which records wait for earlier ones', () => {
  it('gives everything at its end, also what is more than a batch and what came too late', () => {
    const window = new ReorderWindow(1000);
    const a = member('a');
    const items = Array.from({ length: 3000 }, (_, atMs) => ({ item: record('a', atMs), atMs }));
    window.add(a, items, 0);
    window.addUrgent({ type: 'member', node: 'b' } as ClusterFollowItem);
    expect(takeAll(window)).toHaveLength(3001);
    expect([a.held, window.nextDueMs]).toEqual([0, undefined]);
    window.add(a, [{ item: record('a', 5), atMs: 5 }], 0);
    expect(takeAll(window)).toHaveLength(1);
  });

  it('gives late records of several members in the order of their times, not of their coming, and as unsure', () => {
    const window = new ReorderWindow(100);
    const [a, b, c] = [member('a'), member('b'), member('c')];
    window.add(a, [{ item: record('a', 1000), atMs: 1000 }], 0);
    expect(window.take(100)).toHaveLength(1);
    window.add(b, [{ item: record('b', 500), atMs: 500 }], 110);
    window.add(c, [{ item: record('c', 300), atMs: 300 }], 150);
    window.add(b, [{ item: record('b', 600), atMs: 600 }], 160);
    expect(window.take(170)).toEqual([]);
    const late = takeAll(window).map((item) => item.type === 'record' && [item.node, item.atMs, item.isUnsure]);
    expect(late).toEqual([
      ['c', 300, true],
      ['b', 500, undefined],
      ['b', 600, undefined],
    ]);
  });

  it('hides no inversion: a time that is shown before an earlier one of another member makes that unsure', () => {
    const window = new ReorderWindow(0);
    const [a, b] = [member('a'), member('b')];
    // Ordered by when it came, because its own time is still to come.
    window.add(a, [{ item: record('a', 9000), atMs: 1000 }], 0);
    window.add(b, [{ item: record('b', 2000), atMs: 2000 }], 0);
    const [, second] = takeAll(window);
    expect(second).toMatchObject({ node: 'b', isUnsure: true });
  });

  it('gives every record once, and those that wait together in order', () => {
    const coming = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.nat(50)), { maxLength: 200 });
    fc.assert(
      fc.property(coming, (said) => {
        const window = new ReorderWindow(10);
        const members = { a: member('a'), b: member('b') };
        for (const [index, [id, atMs]] of said.entries()) {
          const item = { ...record(id, atMs), file: `${index}.log` } as ClusterFollowItem;
          window.add(members[id], [{ item, atMs }], 0);
        }
        const times = takeAll(window).map((item) => (item.type === 'record' ? item.atMs : undefined));
        expect(times).toEqual(said.map(([, atMs]) => atMs).sort((a, b) => a - b));
      }),
    );
  });

  it('never changes the order of one file, nor moves a record past an event of its member', () => {
    const step = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      // Some go back in time, as after a pause or when a clock is set.
      said: fc.array(fc.tuple(fc.constantFrom('x.log', 'y.log', 'event'), fc.nat(60)), { maxLength: 6 }),
      waitMs: fc.nat(8),
      takes: fc.boolean(),
      isRestarted: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.nat(20), fc.array(step, { maxLength: 60 }), (windowMs, steps) => {
        const window = new ReorderWindow(windowMs);
        const members = new Map(['a', 'b', 'c'].map((id) => [id, member(id)]));
        const given: Numbered[] = [];
        const emitted: Numbered[] = [];
        let nowMs = 0;
        const number = (node: string, file: string): Numbered => {
          const numbered = { node, file, index: given.length };
          given.push(numbered);
          return numbered;
        };
        for (const { id, said, waitMs, takes, isRestarted } of steps) {
          nowMs += waitMs;
          if (isRestarted) members.set(id, member(id));
          const items = said.map(([file, atMs]) => ({ item: toItem(number(id, file), atMs), atMs }));
          window.add(members.get(id) ?? member(id), items, nowMs);
          if (takes) emitted.push(...window.take(nowMs).map(toNumbered));
        }
        emitted.push(...takeAll(window).map(toNumbered));
        for (const id of ['a', 'b', 'c'])
          for (const file of ['x.log', 'y.log']) {
            const isOf = (each: Numbered) => each.node === id && (each.file === file || each.file === 'event');
            expect(emitted.filter(isOf)).toEqual(given.filter(isOf));
          }
        expect(emitted).toHaveLength(given.length);
      }),
      { numRuns: runs(500) },
    );
  });
});

interface Numbered {
  node: string;
  file: string;
  index: number;
}

function toItem({ node, file, index }: Numbered, atMs: number): ClusterFollowItem {
  if (file === 'event') return { type: 'skipped', node, count: index, detail: '' };
  return { ...record(node, atMs), file, offset: index } as ClusterFollowItem;
}

function toNumbered(item: ClusterFollowItem): Numbered {
  if (item.type === 'record') return { node: item.node, file: item.file, index: item.offset };
  if (item.type === 'skipped' && 'node' in item) return { node: item.node, file: 'event', index: item.count };
  throw new Error(`unexpected ${item.type}`);
}
