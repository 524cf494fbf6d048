import { decodeClusterCursor, encodeClusterCursor, type MemberPosition } from '@porthole/cluster/testing';
import { decodeCursor } from '@porthole/logs';
import { encodeMark } from '@porthole/logs/testing';
import { expect } from 'vitest';
import { fuzz, tryParse } from './testing/fuzz.ts';

const MARK = {
  headHash: '0123456789abcdef',
  headBytes: 1024,
  offset: 12_345,
  check: 77,
  checkBytes: 64,
  file: 'a.log',
};
const POSITIONS: readonly (readonly [string, MemberPosition])[] = [
  ['n1', 'beginning'],
  ['n2', 'done'],
  ['n3', { timeMs: 1_794_702_000_000 }],
  ['n4', { cursor: encodeMark(MARK) }],
];

fuzz('cursors of a node', {
  corpus: [
    encodeMark(MARK),
    `${encodeMark(MARK)}~${encodeMark({ ...MARK, offset: 2 ** 40, file: 'ü b.log' })}`,
    'start',
  ],
  check(input) {
    const marks = tryParse(() => decodeCursor(input.toString('latin1')));
    for (const mark of marks ?? []) expect(decodeCursor(encodeMark(mark))).toEqual([mark]);
  },
});

fuzz('cursors of a cluster', {
  corpus: [
    encodeClusterCursor({ order: 'newest', reachedMs: null, members: new Map() }),
    encodeClusterCursor({ order: 'oldest', reachedMs: 1_794_702_000_000, members: new Map(POSITIONS) }),
  ],
  check(input) {
    const position = tryParse(() => decodeClusterCursor(input.toString('latin1')));
    if (position) expect(decodeClusterCursor(encodeClusterCursor(position))).toEqual(position);
  },
});
