import type { FollowItem, FoundRecord, SearchItem } from '@porthole/logs/types';
import { expect, test } from 'vitest';
import { loadGaps } from './load-gaps.ts';

const record = (number: number): FoundRecord => ({
  type: 'record',
  file: 'a.log',
  offset: number,
  bytes: 1,
  cursor: `c${number}`,
  message: String(number),
});

const END: SearchItem = {
  type: 'end',
  reason: 'exhausted',
  records: 2,
  scannedBytes: 0,
  skippedBytes: 0,
  scannedFiles: 1,
  elapsedMs: 0,
  coveredFromMs: null,
  coveredToMs: null,
  problems: [],
  cursor: null,
};

test.each([
  ['at the end of a batch: the follow continues behind what was loaded', [], ['c2', 'c3']],
  ['before a record: the follow has come further already', [record(4)], []],
])('a gap %s', async (_, behind, noted) => {
  const gap: FollowItem = { type: 'gap', family: 'a.log', reason: 'slow', bytes: 2, after: 'c1', until: 'c4' };
  async function* follow(): AsyncGenerator<FollowItem[]> {
    yield [record(1), gap, ...behind];
  }
  const loaded: string[] = [];
  const items: FollowItem[] = [];
  const deps = {
    search: async function* () {
      yield [record(2), record(3), END];
    },
    onLoaded: (records: readonly FoundRecord[]) => void loaded.push(...records.map(({ cursor }) => cursor)),
    wait: async () => {},
  };
  for await (const batch of loadGaps(follow(), { start: 'end' }, deps)) items.push(...batch);
  expect(items).toEqual([record(1), record(2), record(3), ...behind]);
  expect(loaded).toEqual(noted);
});
