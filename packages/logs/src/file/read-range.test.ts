import fs, { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@porthole/records/testing';
import { expect, onTestFinished, test } from 'vitest';
import { collect } from '../testing/read-bytes.ts';
import { type RangeSource, readRange } from './read-range.ts';
import { BufferPool, CHUNK_BYTES, MAX_LARGE_LENT, SharedReads } from './shared-reads.ts';

function openSource(path: string): RangeSource {
  const fd = fs.openSync(path, 'r');
  onTestFinished(() => fs.closeSync(fd));
  const sizeBytes = fs.fstatSync(fd).size;
  const handle = { name: 'a.log', fd, sizeBytes, modifiedNs: 0n, changedNs: 0n, dev: 0n, ino: 0n, release() {} };
  return { handle, reads: new SharedReads() };
}

function writeText(text: string | Buffer): RangeSource {
  const path = join(tempDir(), 'a.log');
  writeFileSync(path, text);
  return openSource(path);
}

test.each([
  [0, 0],
  [0, 1],
  [5, 5],
  [7, 3],
  [1, CHUNK_BYTES],
  [1, CHUNK_BYTES + 1],
  [0, CHUNK_BYTES],
  [CHUNK_BYTES - 1, CHUNK_BYTES + 1],
  [CHUNK_BYTES, 3 * CHUNK_BYTES],
  [0, 3 * CHUNK_BYTES],
])('reads the bytes from %d to %d', async (start, end) => {
  const text = Buffer.alloc(3 * CHUNK_BYTES, 'some text to check the positions, 41 b\n');
  const source = writeText(text);
  expect((await collect(readRange(source, start, end))).equals(text.subarray(start, Math.max(start, end)))).toBe(true);
  expect(source.reads.lentBuffers).toBe(0);
});

test('a slow reader holds one chunk in memory', async () => {
  const source = writeText(Buffer.alloc(6 * CHUNK_BYTES));
  let most = 0;
  for await (const chunk of readRange(source, 0, 6 * CHUNK_BYTES)) {
    await new Promise(setImmediate);
    most = Math.max(most, source.reads.lentBuffers);
    expect(chunk.length).toBe(CHUNK_BYTES);
  }
  expect(most).toBe(1);
  expect(source.reads.lentBuffers).toBe(0);
});

test('an abandoned read releases its memory', async () => {
  const source = writeText(Buffer.alloc(6 * CHUNK_BYTES));
  for await (const _ of readRange(source, 0, 6 * CHUNK_BYTES)) break;
  expect(source.reads.lentBuffers).toBe(0);
});

test('an abort ends the read with the given reason', async () => {
  const source = writeText(Buffer.alloc(6 * CHUNK_BYTES));
  const abort = new AbortController();
  const reading = readRange(source, 0, 6 * CHUNK_BYTES, { signal: abort.signal });
  await reading.next();
  abort.abort(new Error('the client went away'));
  await expect(reading.next()).rejects.toThrow('the client went away');
  expect(source.reads.lentBuffers).toBe(0);
});

test('missing bytes are reported as a truncated file', async () => {
  const source = writeText('short');
  await expect(collect(readRange(source, 0, 6))).rejects.toMatchObject({ code: 'LOG_FILE_TRUNCATED' });
  expect(source.reads.lentBuffers).toBe(0);
});

test('a failed system call is reported with the name of the file', async () => {
  const source = openSource(tempDir());
  const reading = collect(readRange(source, 0, 10));
  await expect(reading).rejects.toMatchObject({
    code: 'LOG_FILE_UNREADABLE',
    message: '"a.log" cannot be read: EISDIR',
  });
  expect(source.reads.lentBuffers).toBe(0);
});

test('the pool caches some buffers and leaves the others to the garbage collector', () => {
  const pool = new BufferPool();
  const taken = Array.from({ length: 60 }, () => pool.take());
  expect(pool.lent).toBe(60);
  for (const buffer of taken) pool.give(buffer);
  expect(pool.lent).toBe(0);
  const again = Array.from({ length: 60 }, () => pool.take());
  expect(again.filter((buffer) => taken.includes(buffer))).toHaveLength(32);
});

test('when many readers hold a chunk, further ones get smaller ones', () => {
  const pool = new BufferPool();
  const sizes = Array.from({ length: 64 }, () => pool.take().length);
  expect(sizes.filter((size) => size === CHUNK_BYTES)).toHaveLength(MAX_LARGE_LENT);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(40 * 1024 * 1024);
});
