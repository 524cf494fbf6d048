import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { CancelFlag } from '../cancel-flag.ts';
import type { Job, JobResults } from '../scan/jobs.ts';
import { WorkerPool } from '../scan/worker-pool.ts';
import { runSearch } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';

const FILES = 30;
const START_MS = Date.UTC(2026, 5, 1, 10);
const HOUR_MS = 3_600_000;

/** Counts what it is given. */
class CountingPool extends WorkerPool {
  readonly jobs = new Map<Job['kind'], number>();

  override run<J extends Job>(job: J, flag: CancelFlag): Promise<JobResults[J['kind']]> {
    this.jobs.set(job.kind, (this.jobs.get(job.kind) ?? 0) + 1);
    return super.run(job, flag);
  }

  taken(): Record<string, number> {
    const taken = Object.fromEntries(this.jobs);
    this.jobs.clear();
    return taken;
  }
}

const line = (timeMs: number) =>
  `${new Date(timeMs).toISOString().replace('T', ' ').slice(0, -1)}\tINFO\ta.go:1\tline\n`;

afterEach(() => {
  vi.useRealTimers();
});

test('small files that have not changed are read once by a search, and what it covers stays exact', async () => {
  const dir = tempDir();
  const pool = new CountingPool(1);
  const logs = openDir(dir, { threads: pool });
  onTestFinished(() => pool.close());
  const path = (number: number) => join(dir, `service-${number}.log`);
  const beginMs = (number: number) => START_MS + number * HOUR_MS;
  for (let number = 0; number < FILES; number++)
    writeFileSync(path(number), [0, 10, 20].map((ms) => line(beginMs(number) + ms)).join(''));
  // They count as unchanged for long.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS });
  const covered = async () => {
    const { end } = await runSearch(logs, { terms: ['nothing has it'] });
    expect(end).toMatchObject({ reason: 'exhausted', scannedFiles: FILES });
    return [end.coveredFromMs, end.coveredToMs];
  };
  const all = [START_MS, beginMs(FILES - 1) + 20];
  expect(await covered()).toEqual(all);
  expect(pool.taken()).toEqual({ records: FILES, times: expect.any(Number) });
  expect(await covered()).toEqual(all);
  expect(pool.taken()).toEqual({ records: FILES });
  appendFileSync(path(3), line(beginMs(FILES)));
  expect(await covered()).toEqual([START_MS, beginMs(FILES)]);
  expect(pool.taken()).toEqual({ records: FILES, times: 1 });
});
