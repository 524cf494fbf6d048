import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { IS_LONG_RUN, runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemCode } from '../log-error.ts';
import { buildGzMap } from './gz-map.ts';
import { gzFile, readAll } from './testing/gz-file.ts';

const LINES = Array.from({ length: 16 }, (_, line) => `2024-08-16 10:00:${line} line ${line * line * 7919}\n`).join('');

/** Files small enough to damage at every byte, with blocks of every kind. */
const FILES: [string, Buffer][] = [
  ['with codes of its own', gzipSync(LINES)],
  ['with fixed codes', gzipSync(LINES.slice(0, 250), { strategy: constants.Z_FIXED })],
  ['with stored blocks', gzipSync(LINES.slice(0, 200), { level: 0 })],
  ['with literals only', gzipSync(LINES.slice(0, 250), { strategy: constants.Z_HUFFMAN_ONLY })],
  ['of several members', Buffer.concat([gzipSync('one\n'), gzipSync(''), gzipSync(LINES.slice(0, 200))])],
];

/** The output of zlib, or `undefined` if it fails. */
function unpacked(bytes: Buffer): Buffer | undefined {
  try {
    return gunzipSync(bytes);
  } catch (error) {
    if (!systemCode(error)?.startsWith('Z_')) throw error;
    return undefined;
  }
}

/** Every byte of head and trailer, and one of eleven between them; all in a long run. */
function isTried(position: number, { length }: Buffer): boolean {
  return IS_LONG_RUN || position < 24 || position >= length - 12 || position % 11 === 0;
}

function isPrefix(part: Buffer, whole: Buffer): boolean {
  return part.equals(whole.subarray(0, part.length));
}

describe.each(FILES)('a file %s', (_, packed) => {
  const text = gunzipSync(packed);

  test('truncated anywhere gives the start of its text, and more the later it is truncated', () => {
    const write = gzFile();
    let longest = 0;
    for (let length = 1; length < packed.length; length++) {
      if (!isTried(length, packed)) continue;
      const { map, text: got } = readAll(write(packed.subarray(0, length)));
      if (!isPrefix(got, text)) expect.fail(`other text when cut at ${length}`);
      expect(got.length).toBeGreaterThanOrEqual(longest);
      longest = got.length;
      // After a whole member nothing is missing.
      const isWhole = unpacked(packed.subarray(0, length)) !== undefined;
      expect(map.problem === null).toBe(isWhole);
    }
    expect(longest).toBe(text.length);
  });

  test('with any byte changed gives its text up to there, and the same as zlib where zlib can read it', () => {
    const write = gzFile();
    for (let position = 0; position < packed.length; position++) {
      if (!isTried(position, packed)) continue;
      const { textBytes } = buildGzMap(write(packed.subarray(0, position)).fd, position);
      const before = text.subarray(0, textBytes);
      for (const bits of [1 << (position % 8), 0xff]) {
        const damaged = Buffer.from(packed);
        damaged[position] = (damaged[position] ?? 0) ^ bits;
        const { map, text: got } = readAll(write(damaged), { spacingBytes: 600 });
        if (!isPrefix(before, got)) expect.fail(`text before the damage at ${position} differs`);
        const expected = unpacked(damaged);
        if (expected === undefined) expect(map.problem).not.toBeNull();
        else if (!got.equals(expected)) expect.fail(`not the same text as zlib's with ${bits} at ${position}`);
      }
    }
  });
});

test('random bytes never throw and always terminate', () => {
  const write = gzFile();
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.constantFrom(50, 1e6), (body, spacingBytes) => {
      const bytes = Buffer.concat([header, body]);
      const { map, text } = readAll(write(bytes), { spacingBytes });
      expect(text.length).toBe(map.textBytes);
      const expected = unpacked(bytes);
      if (expected) expect(text.equals(expected)).toBe(true);
    }),
    { numRuns: runs(13) },
  );
});

test('changes to several bytes are treated as zlib treats them', () => {
  const write = gzFile();
  const packed = gzipSync(LINES.repeat(50), { level: 1 });
  const changes = fc.array(fc.tuple(fc.nat(packed.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(changes, (positions) => {
      const damaged = Buffer.from(packed);
      for (const [position, value] of positions) damaged[position] = value;
      const { map, text } = readAll(write(damaged), { spacingBytes: 5_000 });
      const expected = unpacked(damaged);
      if (expected === undefined) expect(map.problem).not.toBeNull();
      else expect(text.equals(expected)).toBe(true);
    }),
    { numRuns: runs(13) },
  );
});
