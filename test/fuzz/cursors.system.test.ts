import { decodeClusterCursor, encodeClusterCursor, type MemberPosition } from '@porthole/cluster/testing';
import { decodeCursor, packCursor, unpackCursor } from '@porthole/logs';
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

const CLUSTER = { kind: 'cluster', order: 'newest' } as const;
const CURSORS = [null, 1_794_702_000_000].map((reachedMs) =>
  encodeClusterCursor({ order: 'newest', reachedMs, members: new Map(POSITIONS), lastNode: 'n4' }),
);

fuzz('cursors of a cluster', {
  corpus: CURSORS,
  check(input) {
    const text = input.toString('latin1');
    const position = tryParse(() => decodeClusterCursor(text, 'newest'));
    if (position) expect(CURSORS).toContain(text);
  },
});

fuzz('values of a cluster cursor whose checksum is right', {
  corpus: CURSORS.map((text) => JSON.stringify(unpackCursor(CLUSTER, text))),
  check(input) {
    const values = parseList(input.toString('utf8'));
    const position = tryParse(() => decodeClusterCursor(packCursor(CLUSTER, values), 'newest'));
    if (position) expect(decodeClusterCursor(encodeClusterCursor(position), 'newest')).toEqual(position);
  },
});

function parseList(json: string): unknown[] {
  try {
    const list: unknown = JSON.parse(json);
    return Array.isArray(list) ? list : [list];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [json];
  }
}
