import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { fillQuery, searchItems } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { SearchItem } from '../types.ts';

const LINE = '2026-06-01 10:00:00.000\tINFO\ta.go:1\ta line of usual length\n';

function writeLogs(): string {
  const dir = tempDir();
  for (let number = 0; number < 20; number++) {
    const text = `${number} ${LINE}`.repeat(2000);
    const isPacked = number % 2 === 0;
    writeFileSync(join(dir, `f${number}.log${isPacked ? '.gz' : ''}`), isPacked ? gzipSync(text) : text);
  }
  return dir;
}

/** Aborts after this many turns of the event loop: while files are listed, opened, probed, scanned. */
const TURNS = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89];

describe('a cancelled search', () => {
  test('ends its stream with a closing record, whenever it is cancelled', async () => {
    const logs = openDir(writeLogs());
    for (const turns of TURNS) {
      const leaving = new AbortController();
      const aborted = turnsLater(turns, leaving);
      const items: SearchItem[] = [];
      for await (const batch of searchItems(logs, fillQuery({ terms: ['nowhere'] }), { signal: leaving.signal }))
        items.push(...batch);
      await aborted;
      expect(items.length).toBe(1);
      const [end] = items;
      expect(end).toMatchObject({ type: 'end', records: 0 });
      if (end?.type === 'end' && end.reason === 'cancelled') {
        expect([end.coveredFromMs, end.coveredToMs]).toEqual([null, null]);
        expect(end.cursor).not.toBeNull();
      }
    }
  });

  test('leaves no file open and no job running, and neither does a count', async () => {
    const logs = openDir(writeLogs());
    for (const turns of TURNS) {
      const leaving = new AbortController();
      const options = { signal: leaving.signal };
      const aborted = turnsLater(turns, leaving);
      const counts = await Promise.all([
        logs.histogram({ buckets: 5 }, options),
        logs.digest({ limit: 5 }, options),
        logs.top({ by: 'source', limit: 5, buckets: 5 }, options),
        logs.fields({ limit: 5 }, options),
      ]);
      await aborted;
      for (const { end } of counts) expect(['cancelled', 'exhausted']).toContain(end.reason);
    }
    // The threads are shared: a job of an earlier test may be ending.
    await eventually(() => expect(logs.usage).toMatchObject({ searches: 0, jobs: 0 }));
  });
});

async function turnsLater(turns: number, leaving: AbortController): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await nextTurn();
  leaving.abort();
}
