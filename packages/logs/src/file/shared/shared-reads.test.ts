import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CHUNK_BYTES, SharedReads } from '../shared-reads.ts';

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
