import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runs, tempDir } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHUNK_BYTES } from '../file/shared-reads.ts';
import type { LogDir } from '../log-dir.ts';
import { readBytes, readTail } from '../testing/read-bytes.ts';
import { openDir } from '../testing/temp-dir.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** The rule, slow and obvious. */
function expectedTail(text: Buffer, size: number): Buffer {
  if (size >= text.length) return text;
  const from = text.length - size;
  if (text[from - 1] === 10) return text.subarray(from);
  const lineStart = text.indexOf(10, from) + 1;
  if (lineStart > 0 && lineStart < text.length) return text.subarray(lineStart);
  const continues = (index: number) => ((text[index] ?? 0) & 0xc0) === 0x80;
  for (let skip = 0; skip < 4 && from + skip < text.length; skip++) {
    if (!continues(from + skip)) return text.subarray(from + skip);
  }
  return text.subarray(from);
}

async function expectTail(logs: LogDir, { name, text, size }: { name: string; text: Buffer; size: number }) {
  const expected = expectedTail(text, size);
  const stream = await logs.tail(name, size);
  const { sizeBytes } = stream;
  const got = await readBytes(stream);
  expect(got.equals(expected), `${name}: tail of ${size} from ${text.length} bytes`).toBe(true);
  expect(sizeBytes).toBe(got.length);
  expect(got.length).toBeLessThanOrEqual(size);
  if (text.length > 0) expect(got.length).toBeGreaterThan(0);
}

function inMembers(text: Buffer, cuts: number[]): Buffer {
  const cutsAt = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
  return Buffer.concat(cutsAt.slice(1).map((end, index) => gzipSync(text.subarray(cutsAt[index], end), { level: 1 })));
}

describe('the tail', () => {
  const cases: { does: string; text: string | Buffer; size: number; gives: string | Buffer }[] = [
    { does: 'an empty file is an empty response', text: '', size: 10, gives: '' },
    { does: 'a file smaller than the size is given whole', text: 'a\nb\n', size: 5, gives: 'a\nb\n' },
    { does: 'a file of just the size is given whole, first line too', text: 'a\nb\n', size: 4, gives: 'a\nb\n' },
    { does: 'a first line that is cut is dropped', text: 'aaa\nbbb\n', size: 6, gives: 'bbb\n' },
    { does: 'a first line that is not cut is kept', text: 'aaa\nbbb\n', size: 4, gives: 'bbb\n' },
    { does: 'a last line without newline is kept', text: 'aaa\nbb', size: 4, gives: 'bb' },
    { does: 'a window within the last line is given as it is', text: 'aaa\nbbbbbb\n', size: 3, gives: 'bb\n' },
    { does: 'a window that is only the last newline is given', text: 'aaa\n', size: 1, gives: '\n' },
    { does: 'newlines alone are lines', text: '\n\n\n\n', size: 3, gives: '\n\n\n' },
    { does: 'CRLF passes through', text: 'a\r\nb\r\nc\r\n', size: 7, gives: 'b\r\nc\r\n' },
    { does: 'NUL passes through', text: 'a\n\0\0\n', size: 3, gives: '\0\0\n' },
    { does: 'a window inside a character starts at the next one', text: 'ääää', size: 3, gives: 'ä' },
    { does: 'a window smaller than a character is given as it is', text: '€', size: 2, gives: Buffer.of(0x82, 0xac) },
    {
      does: 'bytes that are no UTF-8 pass through',
      text: Buffer.alloc(9, 0x80),
      size: 5,
      gives: Buffer.alloc(5, 0x80),
    },
  ];
  test.each(cases)('$does', async ({ text, size, gives }) => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log'), text);
    writeFileSync(join(dir, 'a.log.gz'), gzipSync(text));
    const logs = openDir(dir);
    expect(await readTail(logs, 'a.log', size)).toEqual(Buffer.from(gives));
    expect(await readTail(logs, 'a.log.gz', size)).toEqual(Buffer.from(gives));
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('a size of %d is rejected', async (size) => {
    const dir = tempDir();
    writeFileSync(join(dir, 'a.log.gz'), gzipSync('text'));
    await expect(openDir(dir).tail('a.log.gz', size)).rejects.toThrow(RangeError);
  });
});

describe('a tail follows the rule', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom('\n', '\r\n', '\n\n\n', '\0', '\0\n', 'ä', '€', '😀', '\ufeff').map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 30, min: 0x80, max: 0xbf }).map((bytes) => Buffer.from(bytes)),
    fc.string({ maxLength: 80 }).map((text) => Buffer.from(`${text}\n`)),
  );
  const smallText = fc.array(piece, { maxLength: 12 }).map((pieces) => Buffer.concat(pieces));

  test('for small files of any content, at every size', async () => {
    const dir = tempDir();
    const logs = openDir(dir);
    const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 3, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(smallText, sizes, fc.array(fc.nat(), { maxLength: 3 }), async (text, some, cuts) => {
        writeFileSync(join(dir, 'a.log'), text);
        writeFileSync(join(dir, 'a.log.gz'), inMembers(text, cuts));
        const nearEnd = [1, 2, 3, 4, Math.max(1, text.length - 1), text.length + 1];
        for (const size of [...some, ...nearEnd]) {
          await expectTail(logs, { name: 'a.log', text, size });
          await expectTail(logs, { name: 'a.log.gz', text, size });
        }
      }),
      { numRuns: runs(23) },
    );
    expect(logs.usage.lentBuffers).toBe(0);
  });

  const borders = [CHUNK_BYTES, 256 * KIB, 2 * CHUNK_BYTES, MIB, MIB + 1].flatMap((size) => [size - 1, size, size + 1]);
  const largeText = fc
    .record({
      length: fc.oneof(fc.constantFrom(...borders, 3 * MIB), fc.integer({ min: CHUNK_BYTES, max: 3 * MIB })),
      fill: fc.constantFrom('x', 'ä', '€', '\n', '0123456789abcde\n', 'line\r\n', `${'y'.repeat(MIB)}\n`),
      newlines: fc.array(fc.nat(3 * MIB), { maxLength: 6 }),
      newlinesFromEnd: fc.array(fc.constantFrom(...borders, 1, 2), { maxLength: 3 }),
    })
    .map(({ length, fill, newlines, newlinesFromEnd }) => {
      const text = Buffer.alloc(length, fill);
      for (const at of newlines) text[at % length] = 10;
      for (const at of newlinesFromEnd) text[Math.max(0, length - at)] = 10;
      return text;
    });

  test('for large files, around the boundaries of chunks and of what is buffered of an archive', async () => {
    const dir = tempDir();
    const logs = openDir(dir);
    const sizes = fc.array(fc.oneof(fc.constantFrom(...borders, 1), fc.integer({ min: 1, max: 4 * MIB })), {
      minLength: 3,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(largeText, sizes, fc.array(fc.nat(), { maxLength: 2 }), async (text, some, cuts) => {
        writeFileSync(join(dir, 'a.log'), text);
        writeFileSync(join(dir, 'a.log.gz'), inMembers(text, cuts));
        for (const size of some) {
          await expectTail(logs, { name: 'a.log', text, size });
          await expectTail(logs, { name: 'a.log.gz', text, size });
        }
      }),
      { numRuns: runs(13) },
    );
    expect(logs.usage.lentBuffers).toBe(0);
  });

  test('for archives whose members end at the boundary of a read', async () => {
    const dir = tempDir();
    const logs = openDir(dir);
    const noise = Buffer.from(Array.from({ length: 2 * MIB }, (_, index) => ((index * 2654435761) >>> 13) & 0xff));
    for (const delta of [-1, 0, 1]) {
      // Stored, not compressed: so its length can be chosen.
      const first = storedGzip(noise, CHUNK_BYTES + delta);
      const rest = gzipSync('the second member\n');
      writeFileSync(join(dir, 'a.gz'), Buffer.concat([first.packed, rest]));
      const text = Buffer.concat([first.text, Buffer.from('the second member\n')]);
      for (const size of [1, 100, 256 * KIB, MIB]) await expectTail(logs, { name: 'a.gz', text, size });
    }
  });
});

/** A gzip member of exactly this many bytes. */
function storedGzip(noise: Buffer, packedBytes: number): { packed: Buffer; text: Buffer } {
  for (let length = packedBytes - 200; length < packedBytes; length++) {
    const text = noise.subarray(0, length);
    const packed = gzipSync(text, { level: 0 });
    if (packed.length === packedBytes) return { packed, text };
  }
  throw new Error(`no text packs to ${packedBytes} bytes`);
}
