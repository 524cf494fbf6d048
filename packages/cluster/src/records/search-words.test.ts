import { setImmediate as nextTurn } from 'node:timers/promises';
import { createRecordFilter } from '@porthole/logs';
import type { FoundRecord, SearchItem, SearchQuery } from '@porthole/logs/types';
import { describe, expect, it } from 'vitest';
import { FILTER_CASES, FILTERED_FILES, secondOf } from '../../../logs/src/testing/filter-cases.ts';
import { SLOW_REGEX, slowText } from '../../../logs/src/testing/slow-regex.ts';
import { LogDirNode } from '../testing/log-dir-node.ts';
import { filterInTurns, searchWords } from './search-words.ts';

const ALL = { order: 'oldest', limit: 100, before: 0, after: 0 } as const;

async function recordsOf(items: AsyncIterable<SearchItem[]>): Promise<FoundRecord[]> {
  const records: FoundRecord[] = [];
  for await (const batch of items) for (const item of batch) if (item.type === 'record') records.push(item);
  return records;
}

describe('the snapshot of a member', () => {
  it('gives what the member gave, whatever the conditions', async () => {
    const node = new LogDirNode();
    for (const [name, text] of Object.entries(FILTERED_FILES)) node.write(name, text);
    const records = await recordsOf(node.answer({ ...ALL, order: 'newest', raw: true }));
    const ports = { hostIp: '', hostName: '', grpcPort: 0, httpPort: 0, version: '', onlineTime: 0 };
    const member = { id: 'n', role: 'node', url: 'http://n', node: ports, isSelf: false };
    const words = { member, asOfMs: 1, clock: null, config: null, files: null, departed: null, records };
    for (const [conditions, seconds] of FILTER_CASES) {
      const query: SearchQuery = { ...ALL, ...conditions };
      const kept = await recordsOf(searchWords(words, query));
      expect({ conditions, kept: kept.map(secondOf) }).toEqual({ conditions, kept: seconds });
      expect(kept).toEqual(await recordsOf(node.answer(query)));
    }
  });

  it('is searched in turns with what else there is to do, however slow the regex is', async () => {
    const text = slowText(1000);
    const records = Array.from({ length: 40 }, (_, n) => ({ raw: `${text.slice(n, n + 950)}Q` }) as FoundRecord);
    const matches = await createRecordFilter({ regex: SLOW_REGEX }, []);
    let turns = 0;
    let isDone = false;
    const others = (async () => {
      for (; !isDone; turns++) await nextTurn();
    })();
    const found = await filterInTurns(records, matches);
    isDone = true;
    await others;
    expect(found).toEqual(records.filter(({ raw = '' }) => /a[ab]{900}Q/.test(raw)));
    expect(turns).toBeGreaterThan(5);
  });
});
