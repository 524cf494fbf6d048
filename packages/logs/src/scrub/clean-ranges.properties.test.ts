import {
  appendFileSync,
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { markFile } from '../cursor/file-mark.ts';
import { statsStamp } from '../file/file-stamp.ts';
import { SharedReads } from '../file/shared-reads.ts';
import type { LogDir } from '../log-dir.ts';
import { BLOCK_BYTES, blockCount } from '../scan/block/blocks.ts';
import type { RecordsJob } from '../scan/block/found-lines.ts';
import type { ScanFile } from '../scan/block/scan-file.ts';
import { JobRunner } from '../scan/job-runner.ts';
import type { RecordsResult } from '../scan/jobs.ts';
import { searchItems } from '../testing/run-search.ts';
import { openDir } from '../testing/temp-dir.ts';
import { Scrubbing } from './scrubber.ts';

const HOUR_MS = 3_600_000;
const RUNS = 4;

const SECRET = 'correct-horse';
const MASKED = '*'.repeat(SECRET.length);
const LINE = '2026-11-15 10:00:00.000\tINFO\ta.go:1\tbattery-staple\n';
const SECRET_LINE = LINE.replace('battery-staple', `${SECRET}.`);
const LINES = Math.ceil((1.2 * BLOCK_BYTES) / LINE.length);

type Change =
  | { kind: 'edit' | 'replace' | 'append'; at: number; secret: boolean; restoresTime: boolean }
  | { kind: 'truncate'; at: number; restoresTime: boolean; secret: boolean };

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('edit' as const, 'replace' as const, 'append' as const, 'truncate' as const),
  at: fc.oneof(fc.nat(LINES - 1), fc.constantFrom(0, Math.floor(BLOCK_BYTES / LINE.length), LINES - 1)),
  secret: fc.boolean(),
  restoresTime: fc.boolean(),
});

/** All at once, or like a program that writes to its file, rotates it, truncates it or copies another over it. */
function apply(path: string, { kind, at, secret, restoresTime }: Change): void {
  const { atime, mtime } = statSync(path);
  const line = secret ? SECRET_LINE : LINE;
  if (kind === 'edit') editLine(path, at, line);
  if (kind === 'append') appendFileSync(path, line);
  if (kind === 'truncate') truncateSync(path, Math.min(at * LINE.length, statSync(path).size));
  if (kind === 'replace') {
    writeFileSync(`${path}.new`, LINE.repeat(at) + line + LINE.repeat(LINES - at));
    renameSync(`${path}.new`, path);
  }
  if (restoresTime) utimesSync(path, atime, mtime);
}

function editLine(path: string, at: number, line: string): void {
  const fd = openSync(path, 'r+');
  if ((at + 1) * LINE.length <= fstatSync(fd).size) writeSync(fd, line, at * LINE.length);
  closeSync(fd);
}

/** Waits until a further change gets another timestamp: a file counts as settled only after that. */
async function nextTick(dir: string): Promise<void> {
  const path = join(dir, 'tick');
  writeFileSync(path, '');
  const { ctimeNs } = statSync(path, { bigint: true });
  do {
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(path, '');
  } while (statSync(path, { bigint: true }).ctimeNs === ctimeNs);
}

async function view(logs: LogDir): Promise<string> {
  const log = await logs.open('a.log');
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of log.read(0, log.sizeBytes)) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks).toString();
  } finally {
    await log.close();
  }
}

async function count(logs: LogDir, term: string): Promise<number> {
  let records = 0;
  const query = { order: 'oldest', limit: 100, before: 0, after: 0, terms: [term] } as const;
  for await (const items of searchItems(logs, query)) records += items.filter(({ type }) => type === 'record').length;
  return records;
}

/** The slow reference: the whole file, every time. */
function reference(path: string): { text: string; secrets: number } {
  const text = readFileSync(path, 'utf8');
  return { text: text.replaceAll(SECRET, MASKED), secrets: text.split(SECRET).length - 1 };
}

function setUp(): { path: string; logs: LogDir; scrubbing: Scrubbing } {
  const dir = tempDir();
  const path = join(dir, 'a.log');
  writeFileSync(path, LINE.repeat(LINES));
  const scrubbing = new Scrubbing();
  scrubbing.add([SECRET]);
  const logs = openDir(dir, { scrubbing });
  return { path, logs, scrubbing };
}

async function expectMasked(logs: LogDir, path: string): Promise<void> {
  const { text, secrets } = reference(path);
  expect((await view(logs)) === text, 'the view is masked as the whole text is').toBe(true);
  expect(await count(logs, SECRET)).toBe(0);
  expect(await count(logs, MASKED)).toBe(Math.min(secrets, 100));
}

/** Makes files that were just changed count as settled. */
function pretendLater(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS });
  onTestFinished(() => void vi.useRealTimers());
}

test('whatever is cached of a settled file, a changed one is masked like the whole text', async () => {
  pretendLater();
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
      const { path, logs } = setUp();
      const dir = tempDir();
      for (const step of [undefined, ...changes]) {
        await nextTick(dir);
        if (step) apply(path, step);
        await nextTick(dir);
        // Twice: the second time with the cache filled by the first.
        for (const _ of [1, 2]) await expectMasked(logs, path);
      }
      await logs.close();
    }),
    { numRuns: runs(RUNS), seed: 13 },
  );
});

test('changes within one tick of the clock are masked, too', async () => {
  const { path, logs } = setUp();
  await expectMasked(logs, path);
  for (let turn = 0; turn < 20; turn++) {
    const { atime, mtime } = statSync(path);
    editLine(path, turn * 7, turn % 2 === 0 ? SECRET_LINE : LINE);
    utimesSync(path, atime, mtime);
    await expectMasked(logs, path);
  }
});

test('a file that changes between being opened and being read is masked, although it was known to contain no secret', async () => {
  const { path, scrubbing } = setUp();
  const fd = openSync(path, 'r');
  onTestFinished(() => closeSync(fd));
  const { size } = fstatSync(fd);
  const stamp = statsStamp(fstatSync(fd, { bigint: true }));
  const runner = new JobRunner();
  const reads = new SharedReads(() => scrubbing.current);
  const file: ScanFile = {
    ...{ name: 'a.log', key: 'a', stamp, fd, sizeBytes: size, textBytes: size, packedMap: undefined, textStart: 0 },
    ...{ start: undefined, scrub: scrubbing.current?.rules, format: 'contract', zone: 'UTC', writtenMs: 0 },
  };
  const job: RecordsJob = {
    ...{ kind: 'records', file, runs: [0, blockCount(size)], startBytes: 0, endBytes: size, limit: 100, raw: true },
    ...{ filter: { terms: [SECRET] }, mark: markFile(Buffer.alloc(0)), newestFirst: false },
  };
  const foundText = async () => {
    const { found } = (await runner.run(job, () => false)) as RecordsResult;
    return Buffer.from(found.text).toString();
  };
  const readView = async () => {
    const { bytes, release } = await reads.read(fd, 0, size, { stamp });
    const text = bytes.toString();
    release();
    return text;
  };
  for (const _ of [1, 2]) {
    expect(await foundText()).toBe('');
    expect(await readView()).toBe(LINE.repeat(LINES));
  }
  await nextTick(tempDir());
  editLine(path, 10, SECRET_LINE);
  expect(await foundText()).toBe('');
  expect(await readView()).not.toContain(SECRET);
  expect(await readView()).toContain(MASKED);
});

test('what is known to contain no secret is scanned again when there is a new one', async () => {
  const { logs, scrubbing } = setUp();
  for (let turn = 0; turn < 4; turn++) expect(await count(logs, 'battery-staple')).toBe(100);
  scrubbing.add(['battery-staple']);
  expect(await count(logs, 'battery-staple')).toBe(0);
});
