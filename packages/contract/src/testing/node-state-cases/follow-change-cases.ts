import type { FollowItem, FollowQuery } from '@porthole/logs/types';
import { expect } from 'vitest';
import { FOLLOWED_FILES } from './follow-cases.ts';
import { type CaseDir, type NodeStateCase, nodeCase } from './node-state-case.ts';
import { Following, itemMessages } from './responses.ts';
import { line } from './shared-files.ts';

interface FollowCase {
  name: string;
  query: FollowQuery;
  files?: NodeStateCase['files'];
  /** Items before anything is written. */
  before?: number;
  /** Each step runs when the items of the previous one have arrived. */
  steps?: readonly [happens: (dir: CaseDir) => void, items: number][];
  /** Messages of all records, and names of all other items. */
  expected: string[];
}

function followCase({
  name,
  query,
  files = FOLLOWED_FILES,
  before = 0,
  steps = [],
  expected,
}: FollowCase): NodeStateCase {
  return nodeCase<FollowItem[]>({
    name,
    files,
    run: async (node, dir) => {
      const following = await Following.begin(node, query);
      let expected = before;
      await following.read(expected);
      for (const [happens, items] of steps) {
        happens(dir);
        expected += items;
        await following.read(expected);
      }
      return following.end();
    },
    check: (items) => {
      expect(itemMessages(items)).toEqual([...expected, '(end)']);
      expect(items.at(-1)).toEqual({ type: 'end', reason: 'cancelled' });
    },
  });
}

const append = (name: string, text: string) => (dir: CaseDir) => dir.append(name, text);

/** Logs that are written, renamed, truncated and removed while they are followed. */
export const FOLLOW_CHANGE_CASES: readonly NodeStateCase[] = [
  followCase({
    name: 'a record of several lines is emitted whole, invalid bytes included',
    query: { src: ['=a.log'], start: 'end', raw: true },
    steps: [
      [
        (dir) =>
          dir.append(
            'a.log',
            Buffer.from(`${line(3000, 'INFO', 'a.go:4\tfour\0\xff')}\tat main()\r\n\r\nend\n`, 'latin1'),
          ),
        1,
      ],
      [append('a.log', line(4000, 'INFO', 'a.go:5\tfive')), 1],
    ],
    expected: ['four\0\ufffd\n\tat main()\n\nend', 'five'],
  }),
  followCase({
    name: 'a log that is rotated by renaming is followed into its new file',
    query: { src: ['a.log'], start: 'end' },
    steps: [
      [append('a.log', line(3000, 'INFO', 'a.go:4\tlast')), 1],
      [
        (dir) => {
          dir.rename('a.log', 'a.log.1');
          dir.write('a.log', line(4000, 'INFO', 'a.go:5\tfirst'));
        },
        2,
      ],
      [append('a.log', line(5000, 'INFO', 'a.go:6\tsecond')), 1],
    ],
    expected: ['last', '(rotated)', 'first', 'second'],
  }),
  followCase({
    name: 'a log that is truncated is followed from its start',
    query: { src: ['a.log'], start: 'end' },
    steps: [
      [append('a.log', line(3000, 'INFO', 'a.go:4\tlast')), 1],
      [(dir) => dir.truncate('a.log', 0), 2],
      [append('a.log', line(4000, 'INFO', 'a.go:5\tfirst')), 1],
    ],
    expected: ['last', '(truncated)', '(gap)', 'first'],
  }),
  followCase({
    name: 'a log that is removed is reported as missing, and followed when it reappears',
    query: { src: ['a.log'], start: { back: 1 } },
    before: 1,
    steps: [
      [(dir) => dir.remove('a.log'), 1],
      [(dir) => dir.write('a.log', line(9000, 'INFO', 'a.go:9\tback again')), 2],
    ],
    expected: ['three', '(missing)', '(rotated)', 'back again'],
  }),
  followCase({
    name: 'a follow of all logs emits records of each of them, and of new ones',
    query: { start: 'end' },
    steps: [
      [append('a.log', line(3000, 'INFO', 'a.go:4\tof a')), 1],
      [append('b.log', line(3000, 'INFO', 'b.go:4\tof b')), 1],
      [(dir) => dir.write('new.log', line(4000, 'INFO', 'n.go:1\tof a new one')), 1],
    ],
    expected: ['of a', 'of b', 'of a new one'],
  }),
  nodeCase({
    name: 'a follow can be left at any time, and the node still responds',
    files: FOLLOWED_FILES,
    run: async (node) => {
      const seen: FollowItem[] = [];
      for await (const batch of node.followLogs({ start: { back: 2 } })) {
        seen.push(...batch);
        if (seen.length >= 2) break;
      }
      for await (const _ of node.followLogs({ start: 'end' })) break;
      return { seen, list: await node.listLogs() };
    },
    check: ({ seen }) => expect(itemMessages(seen)).toEqual(['two', 'three']),
  }),
];
