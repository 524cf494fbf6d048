import { packCursor, unpackCursor } from '@porthole/logs';
import { describe, expect, it } from 'vitest';
import { decodeArchiveCursor, encodeArchiveCursor } from '../query/search-archive.ts';
import { type CombinedPosition, encodeCombinedCursor, resumedPosition } from './combined-search.ts';

const KEY = { time_ms: 1_794_743_999_123, node: 'broker-1', log: 'broker.log', file_id: 'f', file_offset: 48_213 };
const POSITION: CombinedPosition = {
  order: 'newest',
  cuts: { '*': 5, 'a/a.log': 7 },
  members: { page: 'c2.x', after: { node: 'a', cursor: 'c7', atMs: 9 } },
  archive: { page: null, after: null },
  reached: { membersMs: 9, archiveMs: null },
};

const resume = (cursor: string) =>
  resumedPosition({ order: 'newest', limit: 1, before: 0, after: 0, start: { cursor } });

/** What cannot be any value of a position, by itself or within a list. */
const BAD = [true, -1.5, 1e99, 'x'.repeat(100_000), [1], [[1]], { a: 'x' }, { a: 1e99 }];

describe.each([
  ['archive', encodeArchiveCursor('newest', { key: KEY }), (text: string) => decodeArchiveCursor(text, 'newest')],
  ['combined', encodeCombinedCursor(POSITION), resume],
] as const)('a cursor of the kind %s', (kind, cursor, decode) => {
  const form = { kind, order: 'newest' } as const;
  const values = unpackCursor(form, cursor);

  it('is read back as it was written', () => {
    expect(decode(cursor)).toEqual(kind === 'archive' ? { key: KEY } : POSITION);
  });

  it('is refused with a value that is none, too few or too many of them, and in another order', () => {
    const damaged = values.flatMap((_, at) => BAD.map((bad) => values.with(at, bad)));
    // A negative or broken time is one of the members' clocks.
    const isTime = (list: readonly unknown[]) => kind === 'combined' && list.slice(3).includes(-1.5);
    const invalid = [...damaged.filter((list) => !isTime(list)), values.slice(0, -1), [...values, 1]];
    for (const list of invalid)
      expect(() => decode(packCursor(form, list)), JSON.stringify(list).slice(0, 200)).toThrow(
        expect.objectContaining({ code: 'CURSOR_INVALID' }),
      );
    expect(() => decode(packCursor({ kind, order: 'oldest' }, values))).toThrow('for order oldest, not newest');
  });
});

it('a cursor of the archive without a record is a time', () => {
  expect(decodeArchiveCursor(encodeArchiveCursor('oldest', { timeMs: 5 }), 'oldest')).toEqual({ timeMs: 5 });
});
