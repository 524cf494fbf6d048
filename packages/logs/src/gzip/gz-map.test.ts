import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { buildGzMap, GzText, PackedCheckpoints } from './gz-map.ts';
import { gzFile, readAll } from './testing/gz-file.ts';

const MIB = 1024 * 1024;
const A = gzipSync('first part\n');
const B = gzipSync('second part\n');
const EMPTY = gzipSync('');

interface HeaderFields {
  extra?: Buffer;
  name?: string;
  comment?: string;
  hasSum?: boolean;
}

/** A member with the optional fields zlib does not write. */
function withHeader(text: string, { extra, name, comment, hasSum = false }: HeaderFields): Buffer {
  const flags =
    (extra ? 4 : 0) | (name === undefined ? 0 : 8) | (comment === undefined ? 0 : 16) | (hasSum ? 2 : 0) | 1;
  const extraLength = Buffer.alloc(2);
  extraLength.writeUInt16LE(extra?.length ?? 0);
  const header = Buffer.concat([
    Buffer.from([0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 0, 3]),
    extra ? Buffer.concat([extraLength, extra]) : Buffer.alloc(0),
    Buffer.from(name === undefined ? '' : `${name}\0`),
    Buffer.from(comment === undefined ? '' : `${comment}\0`),
  ]);
  const sum = Buffer.alloc(2);
  sum.writeUInt16LE(crc32(header) & 0xffff);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(text), 0);
  trailer.writeUInt32LE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, hasSum ? sum : Buffer.alloc(0), deflateRawSync(text), trailer]);
}

/** The bytes with one of them changed; negative positions count from the end. */
function changed(bytes: Buffer, position: number): Buffer {
  const copy = Buffer.from(bytes);
  const index = position < 0 ? bytes.length + position : position;
  copy[index] = ~(copy[index] ?? 0) & 0xff;
  return copy;
}

describe('a good file', () => {
  const extra = Buffer.alloc(65_535, 'x');
  const good: [string, Buffer, string][] = [
    ['is empty', Buffer.alloc(0), ''],
    ['has an empty text', EMPTY, ''],
    ['has several members', Buffer.concat([A, B, A]), 'first part\nsecond part\nfirst part\n'],
    ['has empty members', Buffer.concat([EMPTY, EMPTY, A, EMPTY, B, EMPTY]), 'first part\nsecond part\n'],
    ['is filled up with zeros', Buffer.concat([A, Buffer.alloc(200_000)]), 'first part\n'],
    ['has a name', withHeader('text', { name: 'a.log' }), 'text'],
    ['has all fields', withHeader('text', { extra, name: 'a', comment: 'c', hasSum: true }), 'text'],
    ['has empty fields', withHeader('text', { extra: Buffer.alloc(0), name: '', comment: '', hasSum: true }), 'text'],
    [
      'has a comment longer than any buffer',
      withHeader('text', { comment: 'c'.repeat(300_000), hasSum: true }),
      'text',
    ],
  ];
  test.each(good)('that %s has no problem', (_, bytes, text) => {
    const { map, text: got } = readAll(gzFile()(bytes));
    expect({ ...map, text: got.toString() }).toMatchObject({ problem: null, text });
  });
});

describe('a damaged file is mapped as far as it can be read', () => {
  const bad: [string, Buffer, string, RegExp][] = [
    ['is not gzip', Buffer.from('plain text'), '', /^not gzip data$/],
    ['is all zeros', Buffer.alloc(100), '', /^not gzip data$/],
    ['is one byte', A.subarray(0, 1), '', /^unexpected end of file at byte 1$/],
    ['is compressed in another way', changed(A, 2), '', /^unknown compression method at byte 0$/],
    ['has unknown flags', changed(A, 3), '', /^unknown header flags at byte 0$/],
    [
      'has a wrong header checksum',
      changed(withHeader('text', { hasSum: true }), 5),
      'text',
      /^checksum mismatch of the header at byte 0/,
    ],
    ['has a wrong checksum', Buffer.concat([changed(A, -8), B]), 'first part\nsecond part\n', /checksum at byte 2\d$/],
    [
      'has a wrong length',
      Buffer.concat([changed(A, -1), B]),
      'first part\nsecond part\n',
      /length stored at byte 2\d$/,
    ],
    ['lacks its last byte', A.subarray(0, -1), 'first part\n', /^unexpected end of file at byte \d+$/],
    [
      'has trailing garbage',
      Buffer.concat([A, Buffer.from('garbage')]),
      'first part\n',
      /^trailing garbage at byte 31 is ignored/,
    ],
    [
      'has garbage after zeros',
      Buffer.concat([A, Buffer.alloc(9), B]),
      'first part\n',
      /^trailing garbage at byte 40 is ignored/,
    ],
    [
      'has two problems',
      Buffer.concat([changed(A, -8), B.subarray(0, -9)]),
      'first part\nsecond part\n',
      /checksum at.*; unexpected end/,
    ],
  ];
  test.each(bad)('when it %s', (_, bytes, text, detail) => {
    const { map, text: got } = readAll(gzFile()(bytes));
    expect({ problem: map.problem, text: got.toString() }).toEqual({
      problem: { code: 'LOG_FILE_CORRUPT', detail: expect.stringMatching(detail) },
      text,
    });
  });
});

test('a match does not refer to the previous member', () => {
  const dictionary = Buffer.from('something to refer to');
  const raw = deflateRawSync('something to refer to', { dictionary });
  const member = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), raw, Buffer.alloc(8)]);
  const { map } = readAll(gzFile()(Buffer.concat([gzipSync(dictionary), member])));
  expect(map.textBytes).toBeLessThan(2 * dictionary.length);
  expect(map.problem?.detail).toMatch(/^invalid match distance at byte /);
});

describe('a text much longer than its file', () => {
  const zeros = gzipSync(Buffer.alloc(20 * MIB));
  const bomb = Buffer.concat(Array.from({ length: 20 }, () => zeros));

  test('makes the checkpoints sparser, not the map larger', () => {
    const { fd, sizeBytes } = gzFile()(bomb);
    const map = buildGzMap(fd, sizeBytes);
    expect(map).toMatchObject({ textBytes: 400 * MIB, problem: null });
    const checkpoints = new PackedCheckpoints(map.shared);
    expect(checkpoints.count).toBeLessThanOrEqual(192);
    for (let i = 1; i < checkpoints.count; i++) {
      expect(checkpoints.textAt(i) - checkpoints.textAt(i - 1)).toBeLessThan(5 * MIB);
    }
    expect(new GzText(fd, sizeBytes, map).read(Buffer.alloc(MIB), 0, 399.5 * MIB, MIB)).toBe(MIB / 2);
  });

  test('of noise has a map of a few MiB', () => {
    const noise = Uint8Array.from({ length: 70_000 }, (_, i) => Math.imul(i * i + i, 0x9e3779b1) >>> 13);
    const { fd, sizeBytes } = gzFile()(gzipSync(Buffer.alloc(2 * MIB, noise), { level: 1 }));
    const map = buildGzMap(fd, sizeBytes, { spacingBytes: 5_000 });
    expect(map.shared.byteLength).toBeGreaterThan(2 * MIB);
    expect(map.shared.byteLength).toBeLessThan(6.5 * MIB);
  });

  test('is mapped up to a limit', () => {
    const { fd, sizeBytes } = gzFile()(bomb);
    const map = buildGzMap(fd, sizeBytes, { maxTextBytes: 5_000_000 });
    expect(map).toMatchObject({
      textBytes: 5_000_000,
      problem: { detail: 'the text is longer than 5000000 bytes; the rest is ignored' },
    });
    expect(new GzText(fd, sizeBytes, map).read(Buffer.alloc(100), 0, 4_999_990, 100)).toBe(10);
  });

  test('that is as long as the limit has no problem', () => {
    const { fd, sizeBytes } = gzFile()(zeros);
    expect(buildGzMap(fd, sizeBytes, { maxTextBytes: 20 * MIB }).problem).toBeNull();
  });

  test('can be cancelled after every few MiB', () => {
    const { fd, sizeBytes } = gzFile()(bomb);
    let polls = 0;
    const isCancelled = () => ++polls > 100;
    expect(() => buildGzMap(fd, sizeBytes, { isCancelled })).toThrow(expect.objectContaining({ name: 'AbortError' }));
    buildGzMap(fd, sizeBytes, { isCancelled: () => ++polls < 0 });
    expect(polls).toBeGreaterThan(400 / 4);
  });
});
