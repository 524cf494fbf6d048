import { deflateRawSync } from 'node:zlib';
import { codeOf } from '@porthole/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeClusterCursor, encodeClusterCursor, type MemberPosition } from './cluster-cursor.ts';

const own = fc.oneof(
  fc.constantFrom<MemberPosition>('beginning', 'done'),
  fc.record({ timeMs: fc.integer({ min: -1e15, max: 1e15 }) }),
  fc.record({ cursor: fc.string({ minLength: 1, maxLength: 200 }) }),
);

const time = fc.option(fc.integer({ min: 0, max: 1e13 }));

const replaced = fc.record(
  {
    own,
    given: fc.array(fc.record({ file: fc.string(), head: fc.string(), from: fc.nat(), to: fc.nat(), lastMs: time })),
    reach: fc.record({ timeMs: time, count: fc.constantFrom(0, 3, Infinity) }),
  },
  { requiredKeys: ['own', 'given'] },
);

const position = fc.oneof(own, replaced);

const id = fc.stringMatching(/^[\w.:-]{1,40}$/);

describe('a cursor of the cluster', () => {
  it('is read back as it was written, and is one word', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(id, position)), fc.option(fc.integer()), (members, reachedMs) => {
        const given = { order: 'newest', reachedMs, members: new Map(members) } as const;
        const text = encodeClusterCursor(given);
        expect(text).toMatch(/^[\w-]+$/);
        expect(decodeClusterCursor(text)).toEqual(given);
      }),
    );
  });

  it('stays under 60 characters for each member with one log', () => {
    const cursor = (index: number) =>
      `${'0123456789abcdef'.slice(index % 16)}${'f'.repeat(index % 16)}.sg.${index}.1xyz${index}.1s.YnJva2VyLmxvZw`;
    const members = new Map(Array.from({ length: 30 }, (_, index) => [`broker-${index}`, { cursor: cursor(index) }]));
    expect(encodeClusterCursor({ order: 'newest', reachedMs: 1, members }).length).toBeLessThan(30 * 60);
  });

  it.each([
    ['nothing', ''],
    ['no base64url', 'a b'],
    ['a cursor of a node', '0123456789abcdef.sg.0.0.0.YQ'],
    ['random letters', 'abcdefgh'],
    ['a text too long', 'a'.repeat(600_000)],
    ['a bomb', packed(' '.repeat(50_000_000))],
    ['another version', packed('[2,"newest",null,[]]')],
    ['another order', packed('[1,"up",null,[]]')],
    ['too little', packed('[1,"newest",null]')],
    ['no array', packed('{"length":4}')],
    ['places that are none', packed('[1,"newest",null,{}]')],
    ['an id that is no text', packed('[1,"newest",null,[[1,null]]]')],
    ['an id too long', packed(`[1,"newest",null,[["${'a'.repeat(129)}",null]]]`)],
    ['an id twice', packed('[1,"newest",null,[["a",null],["a",0]]]')],
    ['an empty cursor', packed('[1,"newest",null,[["a",""]]]')],
    ['a place that is none', packed('[1,"newest",null,[["a",7]]]')],
    ['a time that is none', packed('[1,"newest",null,[["a",["x"]]]]')],
    ['a range that is none', packed('[1,"newest",null,[["a",[null,[[1,2]],0]]]]')],
    ['a time beyond all dates', packed('[1,"newest",1e99,[]]')],
  ])('is refused where it is %s', (_what, text) => {
    let code = 'taken';
    try {
      decodeClusterCursor(text);
    } catch (error) {
      code = codeOf(error);
    }
    expect(code).toBe('CURSOR_INVALID');
  });
});

function packed(json: string): string {
  return deflateRawSync(json).toString('base64url');
}
