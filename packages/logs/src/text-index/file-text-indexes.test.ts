import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { IndexDir, IndexKeys } from '../file/index-dir.ts';
import { GRAM_ROWS } from '../kernel/scan-kernel.ts';
import { type KeptIndex, SEGMENT_BLOCKS, type TextKey, type TextSegment } from '../scan/index-jobs.ts';
import { readRowGroup } from '../scan/tasks/probe.ts';
import { Scrubbing } from '../scrub/scrubber.ts';
import { openBelow } from '../testing/temp-dir.ts';
import { FileTextIndexes } from './file-text-indexes.ts';
import { PAGE_BYTES, segmentBytes } from './segment-file.ts';

const KEY: TextKey = { headHash: 'abc', headBytes: 1024, scrubId: '', reading: 'contract' };

function makeSegment(number: number, { width = 8, seed = 1 } = {}): TextSegment {
  const rows = new Uint8Array((GRAM_ROWS * width) / 8);
  for (let at = 0, state = seed; at < rows.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    rows[at] = state >>> 24;
  }
  const checks = Array.from({ length: width - 1 }, (_, index) => ({
    bytes: 262_145 + index,
    hash: 4_000_000_000 + seed + index,
    scrubbed: true,
  }));
  return { firstBlock: number * SEGMENT_BLOCKS, width, checks, rows };
}

function setUp({ maxBytes = 2 ** 30 } = {}) {
  const path = join(tempDir(), 'index');
  const problems: string[] = [];
  const open = () => {
    const options = {
      dir: path,
      maxBytes: () => maxBytes,
      version: '1',
      onProblem: (text: string) => problems.push(text),
    };
    const dir = new IndexDir(options);
    const store = new FileTextIndexes({ dir, keys: new IndexKeys(dir, { version: '1', scrubbing: new Scrubbing() }) });
    return { dir, store };
  };
  const file = () => join(path, readdirSync(path).find((name) => name.endsWith('.text')) ?? '');
  return { path, open, file, problems };
}

/** Whether all of a segment can be read as it was written. */
async function holds(kept: KeptIndex | undefined, { rows, ...segment }: TextSegment): Promise<boolean> {
  const found = kept?.segments.find(({ firstBlock }) => firstBlock === segment.firstBlock);
  if (!kept || !found) return false;
  const target = new Uint8Array(PAGE_BYTES);
  const bytes = 8 * segment.width;
  for (let group = 0; group < found.sums.length; group++) {
    if (!readRowGroup(kept.fd, found, group, target)) return false;
    const written = rows.subarray(group * bytes, (group + 1) * bytes);
    if (Buffer.compare(target.subarray(0, bytes), written) !== 0) throw new Error(`other rows in group ${group}`);
  }
  const checks = await kept.checks(found);
  if (checks) expect({ ...found, checks }).toMatchObject(segment);
  return checks !== undefined;
}

describe('segments on disk', () => {
  test('are the same for the next process, with the stamps of all files they were compared with', async () => {
    const { path, open, file } = setUp();
    const [first, rest] = [makeSegment(0, { width: 512 }), makeSegment(1, { width: 24, seed: 2 })];
    const before = open();
    expect(await before.store.open(KEY)).toBeUndefined();
    await before.store.put(KEY, first, 's1');
    await before.store.put(KEY, rest, 's1');
    for (const stamp of ['s2', 's3', 's4', 's5', 's4']) await before.store.renew(KEY, [0, 512, 1024], stamp);
    await before.store.put(KEY, { ...rest, ...makeSegment(1, { seed: 3 }) }, 's6');
    await before.store.close();
    expect(openBelow(path)).toBe(0);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const { store, dir } = open();
    const kept = await store.open(KEY);
    expect(await holds(kept, first)).toBe(true);
    expect(await holds(kept, makeSegment(1, { seed: 3 }))).toBe(true);
    expect(kept?.segments.map(({ stamps }) => stamps)).toEqual([['s4', 's5', 's3', 's2'], ['s6']]);
    expect(await store.open({ ...KEY, reading: 'json' })).toBeUndefined();
    expect(before.store.builtBytes).toBeGreaterThan(segmentBytes(512) + segmentBytes(24));
    kept?.release();
    kept?.release();
    await store.close();
    expect(openBelow(path)).toBe(0);
    expect(dir.usage.dropped).toBe(0);
  });

  test('may be written by several processes at the same time', async () => {
    const { open } = setUp();
    const [one, two] = [open().store, open().store];
    await one.put(KEY, makeSegment(0), 's');
    for (let number = 1; number < 6; number += 2) {
      await one.put(KEY, makeSegment(number, { seed: number }), 's');
      await two.put(KEY, makeSegment(number + 1, { seed: number + 1 }), 's');
    }
    for (const store of [one, two]) {
      const kept = await store.open(KEY);
      for (let number = 1; number < 7; number++)
        expect(await holds(kept, makeSegment(number, { seed: number }))).toBe(true);
      kept?.release();
      await store.close();
    }
  });

  test('stay readable for those who use them while they are replaced, dropped or evicted', async () => {
    const { path, open } = setUp();
    const { store } = open();
    await store.put(KEY, makeSegment(0), 's');
    const old = await store.open(KEY);
    await store.put(KEY, makeSegment(0, { seed: 9 }), 's');
    const current = await store.open(KEY);
    await store.drop(KEY);
    expect(await holds(old, makeSegment(0))).toBe(true);
    expect(await holds(current, makeSegment(0, { seed: 9 }))).toBe(true);
    expect(await store.open(KEY)).toBeUndefined();
    await store.close();
    old?.release();
    current?.release();
    expect(openBelow(path)).toBe(0);
  });

  test('keep the limit: the least recently used text goes first, and one that is too large is not kept', async () => {
    const { open } = setUp({ maxBytes: 2.5 * (segmentBytes(8) + PAGE_BYTES) });
    const { store, dir } = open();
    const keys = ['a', 'b', 'c'].map((headHash) => ({ ...KEY, headHash }));
    for (const [index, key] of keys.entries()) {
      if (index === 2) (await store.open({ ...KEY, headHash: 'a' }))?.release();
      await store.put(key, makeSegment(0), 's');
      await new Promise((resolve) => setTimeout(resolve, 2)); // pause: times of use differ
    }
    const opened = await Promise.all(keys.map((key) => store.open(key)));
    expect(opened.map((kept) => kept !== undefined)).toEqual([true, false, true]);
    for (const kept of opened) kept?.release();
    await store.put({ ...KEY, headHash: 'd' }, makeSegment(0, { width: 512 }), 's');
    expect(await store.open({ ...KEY, headHash: 'd' })).toBeUndefined();
    expect(dir.usage.bytes).toBeLessThanOrEqual(2.5 * (segmentBytes(8) + PAGE_BYTES));
    await store.close();
  });
});

describe('damage', () => {
  test('of any region is noticed before anything is concluded from it', async () => {
    const { path, open, file } = setUp();
    const { store } = open();
    const segments = [makeSegment(0), makeSegment(1, { seed: 2 })];
    for (const segment of segments) await store.put(KEY, segment, 's');
    await store.close();
    const bytes = readFileSync(file());
    const name = file();
    for (let at = 0; at < bytes.length; at += 1511) {
      const harmed = Buffer.from(bytes);
      harmed[at] = (harmed[at] ?? 0) ^ 0x04;
      writeFileSync(name, harmed);
      const after = open();
      const kept = await after.store.open(KEY);
      const held = [await holds(kept, segments[0] as TextSegment), await holds(kept, segments[1] as TextSegment)];
      expect({ at, held }).not.toEqual({ at, held: [true, true] });
      kept?.release();
      await after.store.close();
    }
    expect(openBelow(path)).toBe(0);
  });

  test('by a process that was killed while it wrote costs that text, once', async () => {
    const { open, file } = setUp();
    for (const cut of [0, 1, PAGE_BYTES, PAGE_BYTES + 100, 2 * PAGE_BYTES, segmentBytes(8) + PAGE_BYTES + 10_000]) {
      const { store, dir } = open();
      await store.put(KEY, makeSegment(0), 's');
      await store.put(KEY, makeSegment(1), 's');
      await store.close();
      truncateSync(file(), cut);
      const after = open();
      const kept = await after.store.open(KEY);
      expect(kept?.segments.length ?? 0).toBe(cut > segmentBytes(8) ? 1 : 0);
      kept?.release();
      for (const number of [1, 0, 1]) await after.store.put(KEY, makeSegment(number), 's');
      const again = await after.store.open(KEY);
      expect([await holds(again, makeSegment(0)), await holds(again, makeSegment(1))]).toEqual([true, true]);
      again?.release();
      await after.store.drop(KEY);
      await after.store.close();
      expect(dir.usage.dropped).toBe(0);
    }
  });

  test('of the file system is reported once, and nothing fails', async () => {
    const { path, open, problems } = setUp();
    writeFileSync(path, 'not a directory');
    const { store } = open();
    await store.put(KEY, makeSegment(0), 's');
    await store.put(KEY, makeSegment(1), 's');
    await store.renew(KEY, [0], 's');
    expect(await store.open(KEY)).toBeUndefined();
    expect(problems).toEqual([`${path} is not a directory`]);
    await store.close();
  });

  test('to a name is mended: what is no file of the node is removed', async () => {
    const { open, file, path } = setUp();
    const first = open();
    await first.store.put(KEY, makeSegment(0), 's');
    await first.store.close();
    const name = file();
    writeFileSync(join(path, 'other'), readFileSync(name));
    const second = open();
    await second.store.put({ ...KEY, headHash: 'x' }, makeSegment(0), 's');
    await second.store.close();
    // A copy under the name of another text is not that text's.
    const other = readdirSync(path).find((entry) => entry.endsWith('.text') && join(path, entry) !== name) ?? '';
    writeFileSync(join(path, other), readFileSync(name));
    mkdirSync(join(path, `${'f'.repeat(32)}.text`));
    const { store, dir } = open();
    expect(await store.open({ ...KEY, headHash: 'x' })).toBeUndefined();
    expect(dir.usage.dropped).toBe(1);
    expect(readdirSync(path)).toContain('other');
    await store.close();
  });
});
