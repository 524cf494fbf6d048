import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tempDir } from '@porthole/records/testing';
import { describe, expect, test } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { readBytes, readTail } from '../testing/read-bytes.ts';
import { openBelow, openDir } from '../testing/temp-dir.ts';

const MIB = 1024 * 1024;
const TEXT = Buffer.from(
  Array.from({ length: 60_000 }, (_, line) => `line ${line} of the archive, ${line * 7919}\n`).join(''),
);
const PACKED = gzipSync(TEXT);

function flipped(bytes: Buffer, position: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[position] = ~(copy[position] ?? 0) & 0xff;
  return copy;
}

describe('a damaged archive is reported as damaged', () => {
  const damaged: [string, Buffer, RegExp][] = [
    ['is not gzip at all', Buffer.from('2024-08-16 plain text\n'), /"a\.gz" is not valid gzip data; download it raw/],
    ['is one byte', PACKED.subarray(0, 1), /"a\.gz" is truncated/],
    ['is only a header', PACKED.subarray(0, 10), /"a\.gz" is truncated/],
    ['is cut in the middle', PACKED.subarray(0, PACKED.length / 2), /"a\.gz" is truncated/],
    ['lacks its last byte', PACKED.subarray(0, -1), /"a\.gz" is truncated/],
    ['has a wrong byte in the middle', flipped(PACKED, PACKED.length >> 1), /"a\.gz" is not valid gzip data/],
    ['has a wrong checksum', flipped(PACKED, PACKED.length - 6), /"a\.gz" is not valid gzip data/],
    ['has a wrong length', flipped(PACKED, PACKED.length - 2), /"a\.gz" is not valid gzip data/],
    ['has garbage behind it', Buffer.concat([PACKED, Buffer.from('garbage')]), /"a\.gz" is not valid gzip data/],
    ['has a second member that is cut', Buffer.concat([PACKED, PACKED.subarray(0, 500)]), /"a\.gz" is truncated/],
  ];
  test.each(damaged)('when it %s', async (_, bytes, message) => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.gz'), bytes);
    const logs = openDir(dir);
    for (const size of [1, MIB, 8 * MIB]) {
      await expect(logs.tail('a.gz', size)).rejects.toMatchObject({ code: 'LOG_FILE_CORRUPT', message });
    }
    expect(logs.usage.lentBuffers).toBe(0);
    await logs.close();
    expect(logs.usage.openFiles).toBe(0);
  });
});

describe('an intact archive', () => {
  const sound: [string, Buffer, Buffer][] = [
    ['an empty file', Buffer.alloc(0), Buffer.alloc(0)],
    ['an archive of nothing', gzipSync(''), Buffer.alloc(0)],
    ['an archive padded with zeros', Buffer.concat([PACKED, Buffer.alloc(512)]), TEXT],
    ['an archive padded with more zeros than one read', Buffer.concat([PACKED, Buffer.alloc(MIB)]), TEXT],
    ['many small members', Buffer.concat(Array(2000).fill(gzipSync('one line\n'))), Buffer.alloc(18_000, 'one line\n')],
  ];
  test.each(sound)('%s is read', async (_, bytes, text) => {
    const dir = tempDir();
    writeFileSync(join(dir, 'A.LOG.GZ'), bytes);
    const logs = openDir(dir);
    expect((await readTail(logs, 'A.LOG.GZ', 64 * MIB)).equals(text)).toBe(true);
    expect(await readTail(logs, 'A.LOG.GZ', 9)).toEqual(text.subarray(-9));
    expect(logs.usage.lentBuffers).toBe(0);
  });
});

describe('200 MB of zeros in a small archive', () => {
  const bomb = Buffer.concat(Array(10).fill(gzipSync(Buffer.alloc(20_000_000))));

  /** Samples the memory for buffers that this thread allocates beyond the current amount; returns the maximum. */
  function watchMemory(): () => number {
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 2);
    return () => {
      clearInterval(timer);
      return most;
    };
  }

  test('take little memory, whether a part or everything is requested', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'bomb.gz'), bomb);
    const logs = openDir(dir);
    const most = watchMemory();
    expect(await readTail(logs, 'bomb.gz', 1000)).toEqual(Buffer.alloc(1000));
    const tail = await logs.tail('bomb.gz', 300_000_000);
    let got = 0;
    for await (const chunk of tail.chunks) got += chunk.length;
    await tail.close();
    expect(got).toBe(200_000_000);
    // Includes what waits for the garbage collector, so this is far above what is held at once.
    expect(most()).toBeLessThan(100_000_000);
  });

  test('an abort ends decompression', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'bomb.gz'), bomb);
    const logs = openDir(dir);
    const abort = new AbortController();
    const reading = logs.tail('bomb.gz', 1000, { signal: abort.signal });
    setTimeout(() => abort.abort(new Error('enough')), 20);
    await expect(reading).rejects.toThrow('enough');
    expect(logs.usage.lentBuffers).toBe(0);
    await logs.close();
    expect(logs.usage.openFiles).toBe(0);
  });

  test('a reader that stops in the middle releases everything', async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'bomb.gz'), bomb);
    const logs = openDir(dir);
    const tail = await logs.tail('bomb.gz', 300_000_000);
    for await (const chunk of tail.chunks) if (chunk.length > 0) break;
    await tail.close();
    expect(logs.usage.lentBuffers).toBe(0);
    await logs.close();
    expect(logs.usage.openFiles).toBe(0);
    await eventually(() => expect(openBelow(dir)).toBe(0));
  });
});

test('an archive overwritten between the two passes of a large tail is reported, never served short', async () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'a.gz'), PACKED);
  const logs = openDir(dir);
  const tail = await logs.tail('a.gz', 8 * MIB);
  // A shorter text in the same number of bytes: padded with zeros.
  const other = gzipSync('short\n');
  writeFileSync(join(dir, 'a.gz'), Buffer.concat([other, Buffer.alloc(PACKED.length - other.length)]));
  await expect(readBytes(tail)).rejects.toMatchObject({ code: 'LOG_FILE_TRUNCATED' });
});
