import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { IndexDirOptions } from '../file/index-dir.ts';
import type { LogDir, LogDirOptions } from '../log-dir.ts';
import { BLOCK_BYTES } from '../scan/block/blocks.ts';
import { Scrubbing } from '../scrub/scrubber.ts';
import { eventually } from '../testing/eventually.ts';
import { BERLIN } from '../testing/random-record.ts';
import { runSearch } from '../testing/run-search.ts';
import { openBelow, openDir } from '../testing/temp-dir.ts';
import { decodeSummaries, encodeSummaries, type KeptSummaries } from './summary-store.ts';

const LINE = '2026-06-01 10:00:00.000\tINFO\ta.go:1\ta line of usual length\n';
const ERROR = '2026-06-01 10:00:01.000\tERROR\ta.go:1\tit failed with sesame-open\n';
const TEXT = `${LINE.repeat(50_000)}${ERROR}${LINE.repeat(25_000)}`;

afterEach(() => {
  vi.useRealTimers();
});

function setUp() {
  const [dir, index] = [tempDir(), join(tempDir(), 'index')];
  const path = join(dir, 'a.log');
  writeFileSync(path, TEXT);
  // Only the date differs: files look as if they had not changed for an hour.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  const problems: string[] = [];
  const onProblem = (problem: string) => problems.push(problem);
  const open = (options: LogDirOptions = {}, given: Partial<IndexDirOptions> = {}) => {
    const indexDir = { dir: index, maxBytes: () => 2 ** 30, version: '1', onProblem, ...given };
    return openDir(dir, { zone: BERLIN, indexDir, ...options });
  };
  const kept = () => readdirSync(index).filter((name) => name.endsWith('.blocks'));
  return { dir, index, path, open, kept, problems };
}

async function findErrors(logs: LogDir) {
  const { records, end } = await runSearch(logs, { src: ['=a.log'], minLevel: 'ERROR' });
  return { offsets: records.map(({ offset }) => offset), isWarm: end.scannedBytes <= 2 * BLOCK_BYTES };
}

const COLD = { offsets: [50_000 * LINE.length], isWarm: false };
const WARM = { offsets: [50_000 * LINE.length], isWarm: true };

describe('what was learned about blocks', () => {
  test('is known after a restart, in private files, and for histograms, too', async () => {
    const { index, open, kept } = setUp();
    const before = open();
    expect(await findErrors(before)).toEqual(COLD);
    const counted = await before.histogram({ src: ['=a.log'], buckets: 3 });
    await before.close();
    expect(kept()).toHaveLength(1);
    expect(statSync(index).mode & 0o777).toBe(0o700);
    expect(statSync(join(index, kept()[0] ?? '')).mode & 0o777).toBe(0o600);
    const after = open();
    expect(await findErrors(after)).toEqual(WARM);
    const again = await after.histogram({ src: ['=a.log'], buckets: 3 });
    expect(again.buckets).toEqual(counted.buckets);
    expect(again.end.scannedBytes).toBeLessThanOrEqual(2 * BLOCK_BYTES);
    expect(openBelow(index)).toBe(0);
  });

  test('is written when no search has been running for a while, and not again if nothing was learned', async () => {
    const { index, open, kept } = setUp();
    const logs = open({}, { times: { idleMs: 10 } });
    await logs.histogram({ src: ['=a.log'], buckets: 1 });
    await eventually(() => expect(existsSync(index) && kept()).toHaveLength(1));
    await eventually(() => expect(logs.usage.diskIndex).toMatchObject({ files: 1 }));
    const { ino } = statSync(join(index, kept()[0] ?? ''));
    await findErrors(logs);
    await logs.close();
    expect(statSync(join(index, kept()[0] ?? '')).ino).toBe(ino);
  });

  test('is written while searches run without a pause, too', async () => {
    const { index, open, kept } = setUp();
    const logs = open({}, { times: { latestMs: 50 } });
    let isDone = false;
    const searching = Promise.all(
      [1, 2].map(async () => {
        while (!isDone) await logs.histogram({ src: ['=a.log'], buckets: 1 });
      }),
    );
    try {
      await eventually(() => expect(existsSync(index) && kept()).toHaveLength(1));
    } finally {
      isDone = true;
      await searching;
    }
  });

  test('is written soon after it could not be', async () => {
    const { index, open, kept, problems } = setUp();
    writeFileSync(index, 'in the way');
    const logs = open({}, { times: { idleMs: 1, latestMs: 50 } });
    await logs.histogram({ src: ['=a.log'], buckets: 1 });
    await eventually(() => expect(problems).toEqual([`${index} is not a directory`]));
    rmSync(index);
    await eventually(() => expect(existsSync(index) && kept()).toHaveLength(1));
    expect(logs.usage.diskIndex.problem).toBeUndefined();
  });

  test('is compared with the text first if the file was changed, moved or written recently', async () => {
    const { path, open } = setUp();
    const before = open();
    await findErrors(before);
    await before.close();
    const { ctimeNs } = statSync(path, { bigint: true });
    const edited = TEXT.replace('INFO', 'WARN')
      .replace(/INFO(?=[^\n]*\n$)/, 'ERROR')
      .slice(0, TEXT.length);
    while (statSync(path, { bigint: true }).ctimeNs === ctimeNs) writeFileSync(path, edited);
    const after = open();
    const { records } = await runSearch(after, { src: ['=a.log'], minLevel: 'WARN', order: 'oldest' });
    expect(records.map(({ level }) => level)).toEqual(['WARN', 'ERROR', 'ERROR']);
  });

  test('depends on the version, the formats, the zone and the masked secrets', async () => {
    const { open } = setUp();
    const secrets = (...values: string[]) => {
      const scrubbing = new Scrubbing();
      scrubbing.add(values);
      return { scrubbing };
    };
    const first = open(secrets('sesame-open'));
    await findErrors(first);
    await first.close();
    const others = [open(), open(secrets('sesame-shut')), open(secrets('sesame-open'), { version: '2' })];
    for (const other of others) expect(await findErrors(other)).toEqual(COLD);
    expect(await findErrors(open(secrets('sesame-open')))).toEqual(WARM);
  });
});

describe('a directory of indexes', () => {
  test('keeps its limit, and nothing at all if that is 0', async () => {
    const { dir, index, open, kept } = setUp();
    for (const name of ['b.log', 'c.log']) writeFileSync(join(dir, name), `${name}\n${TEXT}`);
    const none = open({}, { maxBytes: () => 0 });
    await none.histogram({ buckets: 1 });
    await none.close();
    expect(existsSync(index)).toBe(false);
    const sizes: number[] = [];
    const one = open({}, { maxBytes: (bytes) => sizes.push(bytes) && 2000 });
    await one.histogram({ buckets: 1 });
    await one.close();
    expect(kept()).toHaveLength(1);
    expect(Math.max(...sizes)).toBeGreaterThan(3 * TEXT.length);
    expect(one.usage.diskIndex).toMatchObject({ files: 1, evicted: 2 });
  });

  test.each([
    { what: 'is damaged', harm: (path: string) => writeFileSync(path, readFileSync(path).fill(7, 100, 101)) },
    { what: 'is cut', harm: (path: string) => truncateSync(path, 200) },
    { what: 'is empty', harm: (path: string) => truncateSync(path, 0) },
  ])('removes a file that $what', async ({ harm }) => {
    const { index, open, kept } = setUp();
    const before = open();
    await findErrors(before);
    await before.close();
    harm(join(index, kept()[0] ?? ''));
    const after = open();
    expect(await findErrors(after)).toEqual(COLD);
    expect(after.usage.diskIndex.dropped).toBe(1);
    await after.close();
    expect(await findErrors(open())).toEqual(WARM);
  });

  test('follows no links, leaves other files alone, and takes its own back from other users', async () => {
    const { index, open, kept } = setUp();
    const before = open();
    await findErrors(before);
    await before.close();
    const [name = ''] = kept();
    const target = join(tempDir(), 'target');
    writeFileSync(target, readFileSync(join(index, name)));
    writeFileSync(join(index, 'notes.txt'), 'mine');
    symlinkSync(target, join(index, `${'0'.repeat(32)}.blocks`));
    chmodSync(index, 0o755);
    chmodSync(join(index, name), 0o644);
    const after = open();
    expect(await findErrors(after)).toEqual(WARM);
    expect(statSync(index).mode & 0o777).toBe(0o700);
    expect(statSync(join(index, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(index, 'notes.txt'), 'utf8')).toBe('mine');
    expect(existsSync(target)).toBe(true);
  });

  test('that is a file, or a link, is reported once, and searches go on', async () => {
    const { index, open, problems } = setUp();
    symlinkSync(tempDir(), index);
    const logs = open({}, { times: { idleMs: 10 } });
    expect(await findErrors(logs)).toEqual(COLD);
    expect(await findErrors(logs)).toEqual(WARM);
    await logs.close();
    expect(problems).toEqual([`${index} is not a directory`]);
  });
});

test('summaries are read as they were written, and any other byte is noticed', async () => {
  const check = { bytes: 262_150, hash: 4_000_000_000, scrubbed: true };
  const all = { minMs: 1, maxMs: Infinity, lateMs: 0.5, counts: [0, 1, 2, 3, 4, 5, 6], untimed: 7 };
  const summaries = [
    { block: 0, all, hasErrors: true, check },
    { block: 3, all: null, hasErrors: false, check: { ...check, scrubbed: false } },
    { block: 90_000, all, hasErrors: true, check },
  ];
  const kept: KeptSummaries = { summaries, stamp: '1:2:3:4:5', settled: new Set([0, 3]) };
  const bytes = await encodeSummaries(kept);
  expect(await decodeSummaries(bytes)).toEqual(kept);
  for (let at = 0; at < bytes.length; at++) {
    const harmed = Buffer.from(bytes);
    harmed[at] = (harmed[at] ?? 0) ^ 0x10;
    expect(await decodeSummaries(harmed)).toBeUndefined();
    expect(await decodeSummaries(bytes.subarray(0, at))).toBeUndefined();
  }
});
