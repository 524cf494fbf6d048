import { closeSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IS_LONG_RUN, tempDir } from '@porthole/records/testing';
import { expect, onTestFinished, test } from 'vitest';
import { markFile } from '../cursor/file-mark.ts';
import { Scrubbing } from '../scrub/scrubber.ts';
import type { RecordFilter } from '../types.ts';
import { BLOCK_BYTES, blockCount } from './block/blocks.ts';
import type { ScanFile } from './block/scan-file.ts';
import { JobRunner } from './job-runner.ts';
import type { Job } from './jobs.ts';

const SECRET = 'Zx7!Zx7!Qw';
const WRONG = 'Zx7!Zx7!Qv';

/** Up to all of it; in a long run every length. */
const LENGTHS = IS_LONG_RUN ? Array.from(SECRET, (_, index) => index + 1) : [1, 2, 4, 7, SECRET.length];

/** Bytes read by this thread: work that shows in the duration of a request, whatever the load of the machine. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/thread-self/io', 'utf8'))?.[1]);
}

/** A log with the secret in every block. */
function plantedFile(): ScanFile {
  const dir = tempDir();
  const line = (index: number, text: string) =>
    `2026-11-15 10:00:${String(index % 60).padStart(2, '0')}.000\tINFO\ta.go:1\t${text}\n`;
  const block = line(1, 'ordinary text of no interest')
    .repeat(Math.floor(BLOCK_BYTES / 60))
    .slice(0, BLOCK_BYTES - 100);
  const path = join(dir, 'a.log');
  writeFileSync(path, `${`${block}\n${line(2, `login with ${SECRET}`)}`.repeat(2)}`);
  const fd = openSync(path, 'r');
  onTestFinished(() => closeSync(fd));
  const scrubbing = new Scrubbing();
  scrubbing.add([SECRET]);
  const { size } = statSync(path);
  const scrub = scrubbing.current?.rules;
  return {
    name: 'a.log',
    fd,
    sizeBytes: size,
    textBytes: size,
    packedMap: undefined,
    textStart: 0,
    start: undefined,
    scrub,
    format: 'contract',
    zone: 'UTC',
    writtenMs: 0,
  };
}

/** Every operation that takes a text to search for. */
function jobsFor(file: ScanFile, filter: RecordFilter): Job[] {
  const part = { file, runs: [0, blockCount(file.textBytes)], startBytes: 0, endBytes: file.textBytes, filter };
  const mark = markFile(Buffer.alloc(0));
  const records = { ...part, kind: 'records', limit: 100, raw: true, mark } as const;
  return [
    { ...records, newestFirst: true },
    { ...records, newestFirst: false },
    { ...part, kind: 'histogram', bucketMs: 1000 },
    { ...part, kind: 'digest' },
    { ...part, kind: 'top', by: 'message', values: undefined, bucketMs: undefined, limits: {} },
  ];
}

/** Filters with a text, each of a different kind. */
function filtersFor(text: string): RecordFilter[] {
  const pattern = text.replace(/[!]/g, '\\$&');
  return [
    { terms: [text] },
    { terms: [text], caseSensitive: true },
    { terms: ['login', text] },
    { terms: ['login'], excluded: [text] },
    { excluded: [text] },
    { regex: pattern },
    { regex: `with ${pattern}`, caseSensitive: true },
    { regex: `(${pattern}|nothing)[0-9]*` },
    { minLevel: 'WARN', terms: [text] },
    { minLevel: 'WARN', excluded: [text] },
    { source: text },
    { component: text },
  ];
}

test('a correct guess of a secret takes the same reads as a wrong one, whatever the query and length of the guess', async () => {
  const file = plantedFile();
  const runner = new JobRunner();
  /** A job that had to yield to others is measured again: on a busy machine that is unrelated to the guess. */
  const countReads = async (job: Job): Promise<number> => {
    for (;;) {
      const before = bytesRead();
      const result = await runner.run(job, () => false);
      // In KiB: reading the counter counts, too.
      const reads = Math.round((bytesRead() - before) / 1024);
      if (typeof result !== 'object' || !('pausedAt' in result) || result.pausedAt === undefined) return reads;
    }
  };
  const measure = async (filter: RecordFilter) => {
    const reads: number[] = [];
    for (const job of jobsFor(file, filter)) reads.push(await countReads(job));
    return reads;
  };
  // What is loaded with the first of a kind is not counted.
  for (const filter of filtersFor('warm-up')) await measure(filter);
  for (const length of LENGTHS) {
    const wrong = filtersFor(WRONG.slice(WRONG.length - length));
    for (const [index, right] of filtersFor(SECRET.slice(SECRET.length - length)).entries()) {
      expect(await measure(right), JSON.stringify(right)).toEqual(await measure(wrong[index] ?? {}));
    }
  }
});
