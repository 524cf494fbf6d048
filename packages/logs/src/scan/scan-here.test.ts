import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it } from 'vitest';
import type { LogDir } from '../log-dir.ts';
import { fillQuery, runSearch, searchItems } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import type { SearchItem } from '../types.ts';

/** A few blocks long. */
function writeLog(): string {
  const dir = tempDir();
  const line = (n: number) =>
    `2026-11-15 05:${String(Math.floor(n / 1000) % 60).padStart(2, '0')}:00.000\t${n % 500 === 0 ? 'ERROR' : 'INFO'}\ta.go:1\t[A]: line ${n}\n`;
  writeFileSync(join(dir, 'a.log'), Array.from({ length: 60_000 }, (_, n) => line(n)).join(''));
  return dir;
}

describe('a program that scans in its own thread', () => {
  it('needs no worker for what is at the end of a log', async () => {
    const logs = openDir(writeLog(), { scansHere: true });
    const { records } = await runSearch(logs, { order: 'newest', limit: 2, minLevel: 'ERROR' });
    expect(records.map(({ message }) => message)).toEqual(['line 59500', 'line 59000']);
    expect(logs.usage).toMatchObject({ threads: 0, jobs: 0 });
  });

  it('finds the same as worker threads', async () => {
    const dir = writeLog();
    const [here, threads] = [openDir(dir, { scansHere: true, workers: 1 }), openDir(dir)];
    for (const query of [
      { minLevel: 'ERROR' },
      { terms: ['line 12345'] },
      { regex: '7{3}$', order: 'newest' },
    ] as const)
      expect((await runSearch(here, query)).records).toEqual((await runSearch(threads, query)).records);
    const counts = { buckets: 10 };
    const counted = async (logs: LogDir) => [
      { ...(await logs.histogram(counts)), end: null },
      { ...(await logs.top({ ...counts, by: 'source', limit: 5 })), end: null },
      { ...(await logs.fields({ minLevel: 'ERROR', limit: 10 })), end: null },
    ];
    expect(await counted(here)).toEqual(await counted(threads));
  });

  it('stops between two jobs when cancelled', async () => {
    const logs = openDir(writeLog(), { scansHere: true, workers: 1 });
    const abort = new AbortController();
    const received: SearchItem[] = [];
    for await (const items of searchItems(logs, fillQuery({ terms: ['nowhere'] }), { signal: abort.signal })) {
      abort.abort();
      received.push(...items);
    }
    expect(received).toMatchObject([{ type: 'end', reason: 'cancelled' }]);
    expect(logs.usage).toMatchObject({ jobs: 0 });
  });
});
