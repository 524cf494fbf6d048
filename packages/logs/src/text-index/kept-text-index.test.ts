import { appendFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { afterEach, expect, test, vi } from 'vitest';
import type { IndexDirOptions } from '../file/index-dir.ts';
import type { LogDir, LogDirOptions } from '../log-dir.ts';
import { Scrubbing } from '../scrub/scrubber.ts';
import { eventually } from '../testing/eventually.ts';
import { BERLIN } from '../testing/random-record.ts';
import { runSearch } from '../testing/run-search.ts';
import { openBelow, openDir } from '../testing/temp-dir.ts';

const line = (number: number, text: string) =>
  `2026-06-01 10:00:00.${String(number % 1000).padStart(3, '0')}\tINFO\ta.go:1\tline ${number} ${text}\n`;
const LINES = Array.from({ length: 120_000 }, (_, number) => line(number, 'of usual length'));
LINES[60_000] = line(60_000, 'needle-in-haystack sesame-open');
const TEXT = LINES.join('');

afterEach(() => {
  vi.useRealTimers();
});

function setUp() {
  const [dir, index] = [tempDir(), join(tempDir(), 'index')];
  const path = join(dir, 'a.log');
  writeFileSync(path, TEXT);
  // Only the date differs: files look as if they had not changed for an hour.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  const open = (options: LogDirOptions = {}, given: Partial<IndexDirOptions> = {}) =>
    openDir(dir, {
      zone: BERLIN,
      maxIndexBytes: 0,
      indexDir: { dir: index, maxBytes: () => 2 ** 30, version: '1', times: { idleMs: 1 }, ...given },
      ...options,
    });
  return { dir, index, path, open };
}

async function find(logs: LogDir, term = 'needle-in-haystack', file = 'a.log') {
  const { records, end } = await runSearch(logs, { src: [`=${file}`], terms: [term] });
  return { found: records.length, isFast: end.scannedBytes < TEXT.length / 4 };
}

/** Until the index is built in the background. */
async function build(logs: LogDir): Promise<void> {
  logs.startIndexing({ startMs: 1, tickMs: 10 });
  await eventually(() => expect(logs.usage.diskIndex.builtBytes).toBeGreaterThan(0));
}

test('a text that was never searched is found without reading the rest, also after a restart', async () => {
  const { index, open } = setUp();
  const before = open();
  await build(before);
  expect(await find(before)).toEqual({ found: 1, isFast: true });
  expect(await find(before, 'not-in-there')).toEqual({ found: 0, isFast: true });
  await before.close();
  expect(openBelow(index)).toBe(0);
  const after = open();
  expect(await find(after)).toEqual({ found: 1, isFast: true });
  expect(after.usage.diskIndex.builtBytes).toBe(0);
  expect(statSync(index).mode & 0o777).toBe(0o700);
});

test('a log that is being written is indexed in the background, also for the next process', async () => {
  const { path, open } = setUp();
  const write = (text: string) => {
    appendFileSync(path, text);
    utimesSync(path, Date.now() / 1000, Date.now() / 1000);
  };
  write(TEXT.repeat(4));
  const live = { agedMs: 0, partBlocks: 64, wholeBlocks: 512, now: () => performance.now() };
  const before = open({ live });
  await build(before);
  write(TEXT.slice(0, 1000));
  expect(await find(before)).toEqual({ found: 5, isFast: false });
  const scanned = async (logs: LogDir) => (await runSearch(logs, { src: ['=a.log'], terms: ['not-in-there'] })).end;
  const { scannedBytes, skippedBytes } = await scanned(before);
  expect(skippedBytes).toBe(16 * 1024 ** 2);
  expect(scannedBytes + skippedBytes).toBe(statSync(path).size);
  await before.close();
  write(TEXT.slice(0, 1000));
  expect((await scanned(open({ live }))).skippedBytes).toBe(skippedBytes);
});

test('a search makes its file the first to be indexed', async () => {
  const { open } = setUp();
  const logs = open();
  expect(await find(logs)).toEqual({ found: 1, isFast: false });
  // Not by searching again and again: every search stops what is being built.
  await eventually(() => expect(logs.usage.diskIndex.builtBytes).toBeGreaterThan(0));
  expect(await find(logs)).toEqual({ found: 1, isFast: true });
});

test('a text is indexed while searches run without a pause', async () => {
  const { open } = setUp();
  const logs = open({}, { times: { latestMs: 20 } });
  while (!(await find(logs)).isFast);
  expect(logs.usage.diskIndex.builtBytes).toBeGreaterThan(0);
});

test('a text is indexed soon after its index could not be written', async () => {
  const { index, open } = setUp();
  writeFileSync(index, 'in the way');
  const logs = open({}, { times: { idleMs: 1, latestMs: 20 } });
  expect(await find(logs)).toEqual({ found: 1, isFast: false });
  await eventually(() => expect(logs.usage.diskIndex.problem).toBeDefined());
  rmSync(index);
  // Not by searching again: that alone would have it built.
  await eventually(() => expect(logs.usage.diskIndex.builtBytes).toBeGreaterThan(0));
});

test('a rotated and a compressed file use the index of their text, once they were compared with it', async () => {
  const { dir, path, open } = setUp();
  const before = open();
  await build(before);
  await before.close();
  renameSync(path, join(dir, 'a.log.1'));
  writeFileSync(join(dir, 'b.log.gz'), gzipSync(TEXT, { level: 1 }));
  vi.setSystemTime(Date.now() + 3_600_000);
  const after = open();
  after.startIndexing({ startMs: 1, tickMs: 10 });
  // The segment was the same: nothing but two stamps was added.
  await eventually(() => expect(after.usage.diskIndex.builtBytes).toBe(2 * 4096));
  for (const name of ['a.log.1', 'b.log.gz'])
    expect(await find(after, undefined, name)).toEqual({ found: 1, isFast: true });
});

test('a file that was edited is never answered from the past', async () => {
  const { path, open } = setUp();
  const before = open();
  await build(before);
  await before.close();
  const { ctimeNs } = statSync(path, { bigint: true });
  const edited = TEXT.replace('line 7 of usual', 'line 7 was edited').slice(0, TEXT.length);
  while (statSync(path, { bigint: true }).ctimeNs === ctimeNs) writeFileSync(path, edited);
  const after = open();
  expect(await find(after, 'was edited')).toEqual({ found: 1, isFast: false });
  vi.setSystemTime(Date.now() + 3_600_000);
  await build(after);
  expect(await find(after, 'was edited')).toEqual({ found: 1, isFast: true });
});

test('an index made of text with other secrets is not used, and no secret is in it', async () => {
  const { open } = setUp();
  const masked = (...values: string[]) => {
    const scrubbing = new Scrubbing();
    scrubbing.add(values);
    return { scrubbing };
  };
  const before = open(masked('sesame-open'));
  await build(before);
  expect(await find(before, 'sesame-open')).toEqual({ found: 0, isFast: true });
  await before.close();
  expect(await find(open(), 'sesame-open')).toEqual({ found: 1, isFast: false });
  expect(await find(open(masked('sesame-open')), 'sesame-open')).toEqual({ found: 0, isFast: true });
});

test('a lower limit is kept', async () => {
  const { open } = setUp();
  const before = open();
  await build(before);
  await before.close();
  const lower = open({}, { maxBytes: () => 1000 });
  lower.startIndexing({ startMs: 1, tickMs: 10 });
  await eventually(() => expect(lower.usage.diskIndex).toMatchObject({ evicted: 1, bytes: 0 }));
});

test('the directory may be removed at any time, and closing ends what is being built', async () => {
  const { dir, index, open } = setUp();
  const logs = open();
  await build(logs);
  rmSync(index, { recursive: true });
  expect((await find(logs)).found).toBe(1);
  for (let number = 0; number < 3; number++) writeFileSync(join(dir, `${number}.log`), `${number}\n${TEXT}`);
  vi.setSystemTime(Date.now() + 3_600_000);
  const closing = open();
  closing.startIndexing({ startMs: 1, tickMs: 10 });
  await eventually(() => expect(closing.usage.jobs).toBeGreaterThan(0));
  await closing.close();
  await logs.close();
  await eventually(() => expect([openBelow(index), openBelow(dir)]).toEqual([0, 0]));
  expect(readdirSync(join(index, '..')).length).toBeLessThanOrEqual(1);
});
