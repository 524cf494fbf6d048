import { truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { constants, gzipSync } from 'node:zlib';
import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openBelow } from '../testing/temp-dir.ts';
import { buildGzMap, type GzMap, GzText, PackedCheckpoints } from './gz-map.ts';
import { gzFile, packMember } from './testing/gz-file.ts';

const LINES = Buffer.from(
  Array.from({ length: 40_000 }, (_, line) => `2024-08-16 10:00:00 INFO line ${line} took ${line * 7919}\n`).join(''),
);

const { Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH, Z_BLOCK, Z_NO_FLUSH } = constants;
const { Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED } = constants;

/** Pseudorandom 32-bit numbers, the same for the same seed. */
function noise32(length: number, seed: number): Uint32Array {
  let state = seed;
  return Uint32Array.from({ length }, () => {
    state = (state + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    return Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  });
}

function noise(bytes: number, seed: number): Buffer {
  return Buffer.from(Uint8Array.from(noise32(bytes, seed), (number) => number >>> 24));
}

/** Each value half as frequent as the one before: the rare ones get the longest codes. */
function skewed(bytes: number, seed: number): Buffer {
  return Buffer.from(Uint8Array.from(noise32(bytes, seed), (number) => Math.clz32(number)));
}

const seeded = fc.tuple(fc.integer({ min: 0, max: 70_000 }), fc.nat(1_000_000));
const part = fc.oneof(
  fc.constant(Buffer.alloc(0)),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  seeded.map(([bytes, seed]) => noise(bytes, seed)),
  seeded.map(([bytes, seed]) => skewed(bytes, seed)),
  seeded.map(([bytes, seed]) => LINES.subarray(seed, seed + bytes)),
  seeded.map(([bytes, seed]) => Buffer.alloc(bytes, noise(1 + (seed % 40), seed))),
);
const member = fc.record({
  parts: fc.array(part, { maxLength: 4 }),
  flush: fc.constantFrom(Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH, Z_BLOCK),
  options: fc.record({
    level: fc.integer({ min: 0, max: 9 }),
    memLevel: fc.integer({ min: 1, max: 9 }),
    windowBits: fc.integer({ min: 9, max: 15 }),
    strategy: fc.constantFrom(Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED),
  }),
});
const reads = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(40_000)), {
  minLength: 1,
  maxLength: 20,
});

describe('the text of a compressed file', () => {
  test('is the original, at any position, in any order and for any checkpoint distance', async () => {
    const write = gzFile();
    const spacing = fc.constantFrom(1, 100, 3_000, 20_000, undefined);
    await fc.assert(
      fc.asyncProperty(
        fc.array(member, { minLength: 1, maxLength: 3 }),
        reads,
        spacing,
        async (members, positions, spacingBytes) => {
          const text = Buffer.concat(members.flatMap(({ parts }) => parts));
          const { fd, sizeBytes } = write(Buffer.concat(await Promise.all(members.map(packMember))));
          const map = buildGzMap(fd, sizeBytes, spacingBytes === undefined ? {} : { spacingBytes });
          expect(map).toMatchObject({ textBytes: text.length, problem: null });
          const reader = new GzText(fd, sizeBytes, map);
          for (const [share, length] of positions) {
            const position = Math.floor(share * text.length);
            const target = Buffer.alloc(length + 3, 0xee);
            const got = reader.read(target, 2, position, length);
            const wanted = text.subarray(position, position + length);
            expect(got).toBe(wanted.length);
            if (!target.subarray(2, 2 + got).equals(wanted)) expect.fail(`other text at ${position}`);
            expect([target[1], target[2 + got]]).toEqual([0xee, 0xee]);
          }
        },
      ),
      { numRuns: runs(13) },
    );
  });

  test('can be read from every checkpoint, also in the middle of blocks of each kind', () => {
    const write = gzFile();
    const text = Buffer.concat([LINES.subarray(0, 60_000), noise(90_000, 5), Buffer.alloc(70_000, 'ab')]);
    for (const options of [{ level: 0 }, { level: 6 }, { strategy: Z_FIXED }, { memLevel: 1 }]) {
      const { fd, sizeBytes } = write(gzipSync(text, options));
      const map = buildGzMap(fd, sizeBytes, { spacingBytes: 1_500 });
      const checkpoints = new PackedCheckpoints(map.shared);
      expect(checkpoints.count).toBeGreaterThan(130);
      for (let index = 0; index < checkpoints.count; index++) {
        const from = checkpoints.textAt(index);
        const target = Buffer.alloc(5_000);
        const got = new GzText(fd, sizeBytes, map).read(target, 0, from, target.length);
        if (!target.subarray(0, got).equals(text.subarray(from, from + 5_000))) expect.fail(`other text at ${from}`);
      }
    }
  });

  test('is read sequentially without going back to a checkpoint', () => {
    const { fd, sizeBytes } = gzFile()(gzipSync(LINES));
    const map = buildGzMap(fd, sizeBytes, { spacingBytes: 1e9 });
    const reader = new GzText(fd, sizeBytes, map);
    const target = Buffer.alloc(1_000);
    reader.read(target, 0, 0, 10);
    // Without its only checkpoint it cannot go back.
    new Float64Array(map.shared, 0, 4).fill(1e12, 1);
    for (let at = 0; at < LINES.length; at += target.length) {
      const got = reader.read(target, 0, at, target.length);
      expect(target.subarray(0, got).equals(LINES.subarray(at, at + target.length))).toBe(true);
    }
    expect(() => reader.read(target, 0, 0, 10)).toThrow(expect.objectContaining({ code: 'LOG_FILE_TRUNCATED' }));
  });

  test('is read backwards with one decompression, also by two readers in turn', () => {
    const open = () => {
      const { fd, sizeBytes } = gzFile()(gzipSync(LINES));
      const map = buildGzMap(fd, sizeBytes, { spacingBytes: 1e9 });
      return { map, reader: new GzText(fd, sizeBytes, map), end: LINES.length };
    };
    const readers = [open(), open()];
    const target = Buffer.alloc(100_000);
    const turns = [0, 0, 0, 1, 1, 0];
    for (let turn = 0; readers.some(({ end }) => end > 0); turn++) {
      const reading = readers[turns[turn % turns.length] ?? 0];
      if (!reading || reading.end === 0) continue;
      const start = Math.max(0, reading.end - 90_000);
      const got = reading.reader.read(target, 0, start, reading.end - start + 1000);
      expect(target.subarray(0, got).equals(LINES.subarray(start, reading.end + 1000))).toBe(true);
      reading.end = start;
    }
    const { map, reader } = open();
    reader.read(target, 0, LINES.length - 1000, 1000);
    reader.read(target, 0, 1_000_000, 1000);
    // Without its only checkpoint it cannot decompress anything again.
    new Float64Array(map.shared, 0, 4).fill(1e12, 1);
    for (let start = 999_000; start >= 0; start -= 1000) {
      expect(reader.read(target, 0, start, 1000)).toBe(1000);
      if (!target.subarray(0, 1000).equals(LINES.subarray(start, start + 1000))) expect.fail(`other text at ${start}`);
    }
  });

  test('ends where it ends', () => {
    const { fd, sizeBytes } = gzFile()(gzipSync('short'));
    const reader = new GzText(fd, sizeBytes, buildGzMap(fd, sizeBytes));
    const target = Buffer.alloc(10);
    expect(reader.sizeBytes).toBe(5);
    expect(reader.read(target, 8, 0, 5)).toBe(2);
    expect([reader.read(target, 0, 3, 10), reader.read(target, 0, 5, 10), reader.read(target, 0, 99, 1)]).toEqual([
      2, 0, 0,
    ]);
    expect(reader.read(target, 0, 0, 0)).toBe(0);
  });
});

test('a map is shared with another thread, not copied', () => {
  const { fd, sizeBytes } = gzFile()(gzipSync(LINES));
  const map = buildGzMap(fd, sizeBytes, { spacingBytes: 50_000 });
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(map);
  const posted = receiveMessageOnPort(port2)?.message as GzMap;
  port1.close();
  const target = Buffer.alloc(5_000);
  expect(new GzText(fd, sizeBytes, posted).read(target, 0, 1_000_000, 5_000)).toBe(5_000);
  expect(target.equals(LINES.subarray(1_000_000, 1_005_000))).toBe(true);
  new Uint8Array(map.shared)[0] = 77;
  expect(new Uint8Array(posted.shared)[0]).toBe(77);
});

test('no descriptors are opened', () => {
  const { path, fd, sizeBytes } = gzFile()(gzipSync(LINES));
  new GzText(fd, sizeBytes, buildGzMap(fd, sizeBytes)).read(Buffer.alloc(9), 0, 70_000, 9);
  expect(openBelow(dirname(path))).toBe(1);
});

describe('a file that changed since its map was built', () => {
  const packed = gzipSync(Buffer.concat([LINES, noise(200_000, 9)]));
  const target = Buffer.alloc(200_000);

  test('is reported as truncated if bytes are missing', () => {
    const { path, fd, sizeBytes } = gzFile()(packed);
    const map = buildGzMap(fd, sizeBytes);
    for (const left of [0, 5, 10, 1_000, sizeBytes >> 1, sizeBytes - 100_000]) {
      truncateSync(path, left);
      const reader = new GzText(fd, sizeBytes, map, { name: 'old.gz' });
      for (const position of [map.textBytes - target.length, map.textBytes - 2, map.textBytes - target.length]) {
        expect(() => reader.read(target, 0, position, target.length)).toThrow(
          expect.objectContaining({
            code: 'LOG_FILE_TRUNCATED',
            message: '"old.gz" was truncated while it was being read',
          }),
        );
      }
      writeFileSync(path, packed);
      expect(reader.read(target, 0, map.textBytes - target.length, target.length)).toBe(target.length);
    }
  });

  test('is reported as damaged if the bytes differ', () => {
    const { path, fd, sizeBytes } = gzFile()(packed);
    const map = buildGzMap(fd, sizeBytes);
    writeFileSync(path, Buffer.alloc(sizeBytes, 0xff));
    const reader = new GzText(fd, sizeBytes, map, { name: 'old.gz' });
    for (const position of [0, 100_000, 1_500_000, 5]) {
      expect(() => reader.read(target, 0, position, 5)).toThrow(
        expect.objectContaining({ code: 'LOG_FILE_CORRUPT', message: expect.stringContaining('"old.gz" changed') }),
      );
    }
  });
});
