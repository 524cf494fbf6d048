import fs, { appendFileSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { HandleCache } from './handle-cache.ts';
import { BufferPool, CHUNK_BYTES, CROWDED_CHUNK_BYTES, KeptTails, SharedReads } from './shared-reads.ts';

function openFile(text: string): { fd: number; path: string } {
  const dir = mkdtempSync(join(tmpdir(), 'porthole-reads-'));
  const path = join(dir, 'a.log');
  writeFileSync(path, text);
  const fd = fs.openSync(path, 'r');
  onTestFinished(() => {
    fs.closeSync(fd);
    rmSync(dir, { recursive: true });
  });
  return { fd, path };
}

test('concurrent requests for the same bytes share one buffer, which is returned with the last of them', async () => {
  const { fd } = openFile('some text');
  const reads = new SharedReads();
  const chunks = await Promise.all([reads.read(fd, 0, 9), reads.read(fd, 0, 9), reads.read(fd, 0, 9)]);
  expect(new Set(chunks.map(({ bytes }) => bytes)).size).toBe(1);
  expect(chunks[0]?.bytes.toString()).toBe('some text');
  expect(reads.lentBuffers).toBe(1);
  chunks[0]?.release();
  chunks[1]?.release();
  expect(reads.lentBuffers).toBe(1);
  chunks[2]?.release();
  expect(reads.lentBuffers).toBe(0);
});

test('other bytes, and bytes requested by others later, are read separately', async () => {
  const { fd, path } = openFile('some text');
  const reads = new SharedReads();
  const [whole, part] = await Promise.all([reads.read(fd, 0, 9), reads.read(fd, 5, 4)]);
  expect([whole.bytes.toString(), part.bytes.toString()]).toEqual(['some text', 'text']);
  writeFileSync(path, 'OTHER TEXT');
  const later = await reads.read(fd, 0, 9);
  expect(later.bytes.toString()).toBe('OTHER TEX');
  expect(whole.bytes.toString()).toBe('some text');
  for (const chunk of [whole, part, later]) chunk.release();
  expect(reads.lentBuffers).toBe(0);
});

test('a request made during a read never gets bytes from before the request', async () => {
  const { fd, path } = openFile('0'.repeat(64));
  const reads = new SharedReads();
  for (let turn = 1; turn <= 300; turn++) {
    const early = reads.read(fd, 0, 64);
    await Promise.resolve();
    const text = String(turn % 10).repeat(64);
    writeFileSync(path, text);
    const late = await reads.read(fd, 0, 64);
    expect(late.bytes.toString()).toBe(text);
    late.release();
    (await early).release();
  }
  expect(reads.lentBuffers).toBe(0);
});

test('a reader that started earlier uses what others have read meanwhile, while they hold it', async () => {
  const { fd, path } = openFile('some text');
  const reads = new SharedReads();
  const since = reads.sequence;
  const first = await reads.read(fd, 0, 9);
  writeFileSync(path, 'OTHER TEXT');
  const second = await reads.read(fd, 0, 9, { since });
  expect(second.bytes).toBe(first.bytes);
  // A new request gets the current bytes, and so does one that began after the first read.
  const between = await reads.read(fd, 0, 9);
  expect(between.bytes.toString()).toBe('OTHER TEX');
  first.release();
  expect(second.bytes.toString()).toBe('some text');
  expect((await reads.read(fd, 0, 9, { since })).bytes).toBe(between.bytes);
  expect(reads.lentBuffers).toBe(2);
});

test('a reader uses nothing read before it began, and nothing already returned', async () => {
  const { fd, path } = openFile('some text');
  const reads = new SharedReads();
  const before = await reads.read(fd, 0, 9);
  const since = reads.sequence;
  writeFileSync(path, 'OTHER TEXT');
  const mine = await reads.read(fd, 0, 9, { since });
  expect(mine.bytes.toString()).toBe('OTHER TEX');
  mine.release();
  writeFileSync(path, 'third text');
  const again = await reads.read(fd, 0, 9, { since });
  expect(again.bytes.toString()).toBe('third tex');
  expect(before.bytes.toString()).toBe('some text');
  before.release();
  again.release();
  expect(reads.lentBuffers).toBe(0);
});

test('a reader that began earlier joins a running read', async () => {
  const { fd } = openFile('some text');
  const reads = new SharedReads();
  const since = reads.sequence;
  const early = reads.read(fd, 0, 9);
  await Promise.resolve();
  await Promise.resolve();
  const [first, second] = await Promise.all([early, reads.read(fd, 0, 9, { since })]);
  expect(second.bytes).toBe(first.bytes);
  first.release();
  second.release();
  expect(reads.lentBuffers).toBe(0);
});

test('a failed read fails for all who share it, and holds nothing', async () => {
  const reads = new SharedReads();
  const outcomes = await Promise.allSettled([reads.read(-1, 0, 9), reads.read(-1, 0, 9)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(reads.lentBuffers).toBe(0);
});

test('a chunk is at most as long as a buffer, and reports if the file ended before', async () => {
  const { fd } = openFile('x'.repeat(CHUNK_BYTES + 10));
  const reads = new SharedReads();
  const [full, rest] = await Promise.all([
    reads.read(fd, 0, Number.MAX_SAFE_INTEGER),
    reads.read(fd, CHUNK_BYTES, 100),
  ]);
  expect([full.bytes.length, full.short]).toEqual([CHUNK_BYTES, false]);
  expect([rest.bytes.length, rest.short]).toEqual([10, true]);
  full.release();
  rest.release();
});

const NAME = 'a.log';
const TEXT = Buffer.from('one\ntwo\n');

async function openLog() {
  const dir = tempDir();
  const path = join(dir, NAME);
  writeFileSync(path, TEXT);
  const handles = new HandleCache(dir);
  onTestFinished(() => handles.close());
  const tails = new KeptTails();
  const keyNow = async ({ size = 4, scrubberId = 'none' } = {}) => {
    const handle = await handles.acquire(NAME);
    handle.release();
    return { handle, size, scrubberId };
  };
  return { path, tails, keyNow };
}

/** Until the clock of the file system has ticked: the rule of file-stamp.ts for files that are at rest. */
function changeLater(path: string, change: () => void): void {
  const { ctimeNs } = statSync(path, { bigint: true });
  const { atime, mtime } = statSync(path);
  while (statSync(path, { bigint: true }).ctimeNs === ctimeNs) utimesSync(path, atime, mtime);
  change();
}

describe('a kept tail', () => {
  it('is found while the file is the same, as a copy', async () => {
    const { tails, keyNow } = await openLog();
    const bytes = Buffer.from('two\n');
    await tails.keep(await keyNow(), bytes);
    bytes.fill('x');
    expect(tails.find(await keyNow())).toEqual(Buffer.from('two\n'));
    expect(tails.find(await keyNow({ size: 5 }))).toBeUndefined();
    expect(tails.find(await keyNow({ scrubberId: 'other secrets' }))).toBeUndefined();
  });

  it.each([
    ['appended to', (path: string) => appendFileSync(path, 'three\n')],
    ['overwritten with as many bytes', (path: string) => writeFileSync(path, 'ONE\nTWO\n')],
    [
      'overwritten, its time set back',
      (path: string) => {
        const { atime, mtime } = statSync(path);
        writeFileSync(path, 'ONE\nTWO\n');
        utimesSync(path, atime, mtime);
      },
    ],
    [
      'replaced',
      (path: string) => {
        writeFileSync(`${path}.new`, TEXT);
        renameSync(`${path}.new`, path);
      },
    ],
  ])('is not found once the file was %s', async (_, change) => {
    const { path, tails, keyNow } = await openLog();
    await tails.keep(await keyNow(), Buffer.from('two\n'));
    changeLater(path, () => change(path));
    expect(tails.find(await keyNow())).toBeUndefined();
  });

  it('is not kept if the file changed while it was read, or if it is long', async () => {
    const { path, tails, keyNow } = await openLog();
    const before = await keyNow();
    changeLater(path, () => writeFileSync(path, 'ONE\nTWO\n'));
    await tails.keep(before, Buffer.from('two\n'));
    expect(tails.find(before)).toBeUndefined();
    const now = await keyNow();
    for (const _ of [1, 2, 3]) await tails.keep(now, Buffer.alloc(CROWDED_CHUNK_BYTES + 1));
    expect(tails.find(now)).toBeUndefined();
  });

  it('of some length is kept when it is requested again', async () => {
    const { tails, keyNow } = await openLog();
    const bytes = Buffer.alloc(64 * 1024 + 1, 'x');
    await tails.keep(await keyNow(), bytes);
    expect(tails.find(await keyNow())).toBeUndefined();
    await tails.keep(await keyNow(), bytes);
    expect(tails.find(await keyNow())).toEqual(bytes);
    // Others of the same length take its place: 2 MiB in all.
    for (let size = 100; size < 108; size++)
      for (const _ of [1, 2]) await tails.keep(await keyNow({ size }), Buffer.alloc(CROWDED_CHUNK_BYTES));
    expect(tails.find(await keyNow())).toBeUndefined();
    expect(tails.find(await keyNow({ size: 100 }))).toBeUndefined();
    expect(tails.find(await keyNow({ size: 107 }))).toBeDefined();
  });

  it('makes room for newer ones', async () => {
    const { tails, keyNow } = await openLog();
    for (let size = 1; size <= 17; size++) await tails.keep(await keyNow({ size }), Buffer.from('two\n'));
    expect(tails.find(await keyNow({ size: 1 }))).toBeUndefined();
    expect(tails.find(await keyNow({ size: 2 }))).toBeDefined();
    expect(tails.find(await keyNow({ size: 17 }))).toBeDefined();
  });
});

test('free buffers are kept for the next reader, and given up when nobody has read for a while', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const pool = new BufferPool();
  const buffers = Array.from({ length: 20 }, () => pool.take());
  for (const buffer of buffers) pool.give(buffer);
  expect(pool.free).toBe(16);
  vi.advanceTimersByTime(3000);
  pool.give(pool.take());
  vi.advanceTimersByTime(3000);
  expect(pool.free).toBe(16);
  vi.advanceTimersByTime(10_000);
  expect(pool.free).toBe(0);
  expect(pool.lent).toBe(0);
});
