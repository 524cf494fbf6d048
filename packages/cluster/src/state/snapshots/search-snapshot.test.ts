import { setImmediate as nextTurn } from 'node:timers/promises';
import { matchRegex, WorkerPool } from '@porthole/logs';
import {
  FILTER_CASES,
  FILTERED_FILES,
  recordSecond,
  SHARED_THREADS,
  SLOW_REGEX,
  slowText,
} from '@porthole/logs/testing';
import type { FoundRecord, SearchItem, SearchQuery } from '@porthole/logs/types';
import { toItems } from '@porthole/records';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MatchRegex } from '../../fan-out/peers.ts';
import { LogDirNode } from '../../testing/log-dir-node.ts';
import { searchSnapshot } from './search-snapshot.ts';

const ALL = { order: 'oldest', limit: 100, before: 0, after: 0 } as const;

const PORTS = { hostIp: '', hostName: '', grpcPort: 0, httpPort: 0, version: '', onlineTime: 0 };
const MEMBER = { id: 'n', role: 'node', labels: {}, url: 'http://n', node: PORTS, isSelf: false };

async function collectRecords(items: AsyncIterable<SearchItem[]>): Promise<FoundRecord[]> {
  const records: FoundRecord[] = [];
  for await (const batch of items) for (const item of batch) if (item.type === 'record') records.push(item);
  return records;
}

describe('the snapshot of a member', () => {
  it('gives what the member gave, whatever the conditions', async () => {
    const node = new LogDirNode();
    for (const [name, text] of Object.entries(FILTERED_FILES)) node.write(name, text);
    const records = await collectRecords(node.respond({ ...ALL, order: 'newest', raw: true }));
    const snapshot = { member: MEMBER, asOfMs: 1, clock: null, config: null, files: null, departed: null, records };
    const matchInThread: MatchRegex = (filter, texts) => matchRegex(SHARED_THREADS, { filter, texts });
    for (const [conditions, seconds] of FILTER_CASES) {
      const query: SearchQuery = { ...ALL, ...conditions };
      const kept = await collectRecords(toItems(searchSnapshot(snapshot, query)));
      expect({ conditions, kept: kept.map(recordSecond) }).toEqual({ conditions, kept: seconds });
      expect(kept).toEqual(await collectRecords(node.respond(query)));
      expect(await collectRecords(toItems(searchSnapshot(snapshot, query, { matchRegex: matchInThread })))).toEqual(
        kept,
      );
    }
  });

  it('lets others have their turn while a slow regex is tested, on a single long record too', async () => {
    // Slow enough for many turns, and far from the time limit of a regex on a busy machine.
    const regex = SLOW_REGEX.replace('900', '150');
    const text = slowText(200);
    const long = { type: 'record', file: 'a.log', timeMs: 1, message: '', raw: `${text}Q` } as FoundRecord;
    const short = Array.from({ length: 2 }, (_, n) => ({ ...long, timeMs: 2 + n, raw: `${text.slice(n, n + 180)}Q` }));
    const records = [long, ...short];
    const snapshot = { member: MEMBER, asOfMs: 1, clock: null, config: null, files: null, departed: null, records };
    const pool = new WorkerPool(1);
    onTestFinished(() => pool.close());
    // Its thread takes seconds to start on a busy machine, which would count against the time limit.
    await pool.run({ kind: 'regex', filter: { regex }, texts: [] });
    const turnsMs: number[] = [];
    let isDone = false;
    const others = (async () => {
      for (let at = performance.now(); !isDone; at = performance.now()) {
        await nextTurn();
        turnsMs.push(performance.now() - at);
      }
    })();
    const matchInThread: MatchRegex = (filter, texts) => matchRegex(pool, { filter, texts });
    const query: SearchQuery = { ...ALL, order: 'newest', regex, caseSensitive: true };
    const found = await collectRecords(toItems(searchSnapshot(snapshot, query, { matchRegex: matchInThread })));
    isDone = true;
    await others;
    expect(found.map(({ timeMs }) => timeMs)).toEqual(
      records.flatMap(({ timeMs, raw = '' }) => (/a[ab]{150}Q/.test(raw) ? timeMs : [])),
    );
    // One turn would be all, were they tested by this thread.
    expect(turnsMs.length).toBeGreaterThan(10);
  });
});
