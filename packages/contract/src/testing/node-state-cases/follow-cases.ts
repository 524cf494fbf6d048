import type { FollowItem, FollowQuery } from '@porthole/logs/types';
import { expect } from 'vitest';
import { type NodeStateCase, nodeCase } from './node-state-case.ts';
import { Following, itemMessages, parsedQuery, search } from './responses.ts';
import { BASE_TIME_MS, line, ODD_NAME } from './shared-files.ts';

const START = [
  line(0, 'INFO', 'a.go:1\tone'),
  line(1000, 'WARN', 'a.go:2\t[Two]: two'),
  line(2000, 'ERROR', 'a.go:3\tthree'),
];

/** The directory of follows without files of their own. */
export const FOLLOWED_FILES = { 'a.log': START.join(''), 'b.log': line(500, 'INFO', 'b.go:1\tother') };

/** Complete records: the next line ends each of them. */
const MORE = line(3000, 'INFO', 'a.go:4\tfour') + line(4000, 'FATAL', 'a.go:5\tFIVE\t{"n":{"m":[null]}}');

/** Where a follow starts, and what it emits before anything is written. */
const START_QUERIES: readonly [FollowQuery, string[]][] = [
  [{ src: ['=a.log'], start: 'end' }, []],
  [{ src: ['a.log'], start: { back: 0 } }, []],
  [{ src: ['a.log'], start: { back: 2 } }, ['two', 'three']],
  [{ src: ['=a.log'], start: { back: 2 }, raw: true }, ['two', 'three']],
  [{ src: [`=${ODD_NAME}`], start: { back: 10_000 } }, ['odd']],
  [{ start: { back: 10_000 }, raw: true }, ['odd', 'one', 'other', 'two', 'three']],
  [{ src: ['a.log'], start: { timeMs: BASE_TIME_MS + 1000 } }, ['two', 'three']],
  [{ src: ['a.log'], start: { timeMs: 0 } }, ['one', 'two', 'three']],
  [{ src: ['a.log'], start: { timeMs: -1 } }, ['one', 'two', 'three']],
  [{ src: ['b.log'], start: { timeMs: BASE_TIME_MS + 501 } }, []],
];

const STARTS: readonly NodeStateCase[] = [
  nodeCase<FollowItem[][]>({
    name: 'follows start at the end, some records back, or at a time, and continue with what is written',
    files: { ...FOLLOWED_FILES, [ODD_NAME]: line(-1000, 'INFO', 'o.go:1\todd') },
    run: async (node, dir) => {
      const followings = await Promise.all(START_QUERIES.map(([query]) => Following.begin(node, query)));
      await Promise.all(followings.map((following, index) => following.read(START_QUERIES[index]?.[1].length ?? 0)));
      // Each has reached what is written now, without repeating anything.
      for (const name of ['a.log', 'b.log', ODD_NAME]) dir.append(name, line(9000, 'INFO', 'x.go:1\tnew'));
      const all = (index: number) => (START_QUERIES[index]?.[1].length ?? 0) + (isOfAll(index) ? 3 : 1);
      await Promise.all(followings.map((following, index) => following.read(all(index))));
      const results = await Promise.all(followings.map((following) => following.end()));
      // Which of several logs is read first is not defined.
      return results.map((items, index) => (isOfAll(index) ? byFile(items) : items));
    },
    check: (responses) => {
      const messages = responses.map((items) => itemMessages(items).filter((message) => !/^new|^\(end/.test(message)));
      expect(messages).toEqual(START_QUERIES.map(([, expected]) => expected));
    },
  }),
  nodeCase({
    name: 'a follow continues after the record of a cursor, from a search or its own',
    files: FOLLOWED_FILES,
    run: async (node, dir) => {
      const { records } = await search(node, { src: ['a.log'], order: 'oldest', limit: 1 });
      const first = await Following.begin(node, { src: ['a.log'], start: { cursor: records[0]?.cursor ?? '' } });
      const [, last] = await first.read(2);
      await first.end();
      dir.append('a.log', MORE);
      const cursor = last?.type === 'record' ? last.cursor : '';
      const second = await Following.begin(node, { src: ['a.log'], start: { cursor } });
      await second.read(2);
      return { first: first.items, second: await second.end() };
    },
    check: ({ first, second }) => {
      expect(itemMessages(first)).toEqual(['two', 'three', '(end)']);
      expect(itemMessages(second)).toEqual(['four', 'FIVE', '(end)']);
    },
  }),
];

const SINCE = nodeCase({
  name: 'a follow of all logs after a record starts the other logs at a time, or at the time of that record',
  files: FOLLOWED_FILES,
  run: async (node) => {
    const { records } = await search(node, { src: ['=a.log'], order: 'oldest' });
    const cursor = records[1]?.cursor ?? '';
    const results: FollowItem[][] = [];
    for (const since of [{}, { sinceMs: BASE_TIME_MS }, { sinceMs: 0 }, { sinceMs: BASE_TIME_MS + 501 }]) {
      const following = await Following.begin(node, { start: { cursor, ...since } });
      await following.read('sinceMs' in since && since.sinceMs <= BASE_TIME_MS ? 2 : 1);
      results.push(await following.end());
    }
    return results;
  },
  check: (results) =>
    expect(results.map((items) => itemMessages(items).sort())).toEqual([
      ['(end)', 'three'],
      ['(end)', 'other', 'three'],
      ['(end)', 'other', 'three'],
      ['(end)', 'three'],
    ]),
});

const FILTERS: readonly [Omit<FollowQuery, 'start'>, string[]][] = [
  [{}, ['one', 'two', 'three', 'four', 'FIVE']],
  [{ minLevel: 'WARN' }, ['two', 'three', 'FIVE']],
  [{ terms: ['five'] }, ['FIVE']],
  [{ terms: ['five'], caseSensitive: true }, []],
  [{ excluded: ['tw', 'th', 'one'], raw: true }, ['four', 'FIVE']],
  [{ regex: '\\bf[a-z]+' }, ['four', 'FIVE']],
  [{ regex: '\\bf[a-z]+', caseSensitive: true }, ['four']],
  [{ source: 'a.go:2' }, ['two']],
  [{ component: 'TWO' }, ['two']],
  [{ query: parsedQuery('level<=warn -two') }, ['one', 'four']],
  [{ query: parsedQuery('n.m=null five'), fields: ['n.m', 'level'] }, ['FIVE']],
  [{ fromMs: BASE_TIME_MS + 1000, toMs: BASE_TIME_MS + 4000 }, ['two', 'three', 'four']],
];

const FILTERED = nodeCase<FollowItem[][]>({
  name: 'follows with every kind of filter emit only matching records, old and new',
  files: FOLLOWED_FILES,
  run: async (node, dir) => {
    const begin = ([filter]: (typeof FILTERS)[number]) =>
      Following.begin(node, { src: ['a.log'], ...filter, start: { back: 100 } });
    const followings = await Promise.all(FILTERS.map(begin));
    dir.append('a.log', MORE);
    await Promise.all(followings.map((following, index) => following.read(FILTERS[index]?.[1].length ?? 0)));
    return Promise.all(followings.map((following) => following.end()));
  },
  check: (responses) =>
    expect(responses.map(itemMessages)).toEqual(FILTERS.map(([, expected]) => [...expected, '(end)'])),
});

/** Where follows start, and what they emit. */
export const FOLLOW_CASES: readonly NodeStateCase[] = [...STARTS, SINCE, FILTERED];

function isOfAll(index: number): boolean {
  const query = START_QUERIES[index]?.[0];
  return query?.src === undefined;
}

/** Sorts only new records, by file name. */
function byFile(items: readonly FollowItem[]): FollowItem[] {
  const rank = (item: FollowItem) => (item.type === 'record' && item.message === 'new' ? item.file : '');
  return [
    ...items.slice(0, -1).sort((a, b) => (rank(a) < rank(b) ? -1 : Number(rank(a) > rank(b)))),
    ...items.slice(-1),
  ];
}
