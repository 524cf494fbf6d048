import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { tempDir } from '../testing/temp-dir.ts';
import type { HistogramJob, ScanFile } from './jobs.ts';
import { WorkerPool } from './worker-pool.ts';

const LINE = '2026-11-15 05:00:00.000\tINFO\ta.go:1\t[A]: line\n';
const SECOND_MS = 1000;

function openFile(lines: number): ScanFile {
  const path = join(tempDir(), 'a.log');
  writeFileSync(path, LINE.repeat(lines));
  const fd = openSync(path, 'r');
  onTestFinished(() => closeSync(fd));
  const sizeBytes = lines * LINE.length;
  return {
    ...{ name: 'a.log', fd, sizeBytes, textBytes: sizeBytes, gzMap: undefined, scrub: undefined },
    ...{ format: 'contract', zone: 'UTC', writtenMs: 0 },
  };
}

it('a short job does not wait for long ones that came before it', async () => {
  const pool = new WorkerPool(1);
  onTestFinished(() => pool.close());
  const file = openFile(100);
  const part = { file, startBytes: 0, endBytes: file.textBytes };
  const long: HistogramJob = { kind: 'histogram', ...part, runs: [0, 100], filter: {}, bucketMs: SECOND_MS };
  const ended: string[] = [];
  await Promise.all([
    ...['first', 'second', 'third'].map((name) => pool.run(long).then(() => ended.push(name))),
    pool.run({ kind: 'align', file, offset: 70 }).then(() => ended.push('short')),
    pool.run({ ...long, runs: [0, 1] }).then(() => ended.push('also short')),
  ]);
  // The first had begun.
  expect(ended).toEqual(['first', 'short', 'also short', 'second', 'third']);
});
