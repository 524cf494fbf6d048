import { packCursor } from '@porthole/logs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeClusterCursor, encodeClusterCursor, type MemberPosition } from './cluster-cursor.ts';

const cursor = fc.string({ minLength: 1, maxLength: 200 });

const own = fc.oneof(
  fc.constantFrom<MemberPosition>('beginning', 'done'),
  fc.record({ timeMs: fc.integer({ min: -1e15, max: 1e15 }) }),
  fc.record({ cursor }),
);

const position = fc.oneof(own, fc.record({ cursor, from: own, until: fc.string({ maxLength: 200 }) }));

const id = fc.stringMatching(/^[\w.:-]{1,40}$/);

describe('a cursor of the cluster', () => {
  it('is read back as it was written, and is one word', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(id, position)), fc.option(fc.integer()), (members, reachedMs) => {
        const given = { order: 'newest', reachedMs, members: new Map(members) } as const;
        const text = encodeClusterCursor(given);
        expect(text).toMatch(/^[\w.-]+$/);
        expect(decodeClusterCursor(text, 'newest')).toEqual(given);
      }),
    );
  });

  it('stays under 60 characters for each member with one log', () => {
    const cursorOf = (index: number) =>
      `${'0123456789abcdef'.slice(index % 16)}${'f'.repeat(index % 16)}.sg.${index}.1xyz${index}.1s.YnJva2VyLmxvZw`;
    const members = new Map(Array.from({ length: 30 }, (_, index) => [`broker-${index}`, { cursor: cursorOf(index) }]));
    expect(encodeClusterCursor({ order: 'newest', reachedMs: 1, members }).length).toBeLessThan(30 * 60);
  });

  it.each([
    ['a cursor of a node', '0123456789abcdef.sg.0.0.0.YQ'],
    ['too little', packed([null, null])],
    ['too much', packed([null, null, [], 1])],
    ['positions that are none', packed([null, null, {}])],
    ['too many members', packed([null, null, Array.from({ length: 10_001 }, (_, at) => [`m${at}`, null])])],
    ['a last member that is no text', packed([null, 1, []])],
    ['an id that is no text', packed([null, null, [[1, null]]])],
    ['an id too long', packed([null, null, [['a'.repeat(129), null]]])],
    ['an empty id', packed([null, null, [['', null]]])],
    [
      'an id twice',
      packed([
        null,
        null,
        [
          ['a', null],
          ['a', 0],
        ],
      ]),
    ],
    ['an empty cursor', packed([null, null, [['a', '']]])],
    ['a replaced member that was replaced', packed([null, null, [['a', ['c', ['c', null, ''], '']]]])],
    ['a replaced member without its first records', packed([null, null, [['a', ['c', null, 0]]]])],
    ['a position that is none', packed([null, null, [['a', 7]]])],
    ['a time that is none', packed([null, null, [['a', ['x']]]])],
    ['a count that is none', packed([null, null, [['a', [1, -2, 0, null]]]])],
    ['a time beyond all dates', packed([1e99, null, []])],
  ])('is refused where it is %s', (_what, text) => {
    expect(() => decodeClusterCursor(text, 'newest')).toThrow(expect.objectContaining({ code: 'CURSOR_INVALID' }));
  });
});

function packed(values: readonly unknown[]): string {
  return packCursor({ kind: 'cluster', order: 'newest' }, values);
}
