import { runs } from '@porthole/records/testing';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type DecoderName, decodeChunks } from './decoders.ts';
import { DecodeFault } from './packed-input.ts';
import { FIXTURES, type FixtureName, fixture, fixtureText } from './testing/fixture-text.ts';

const TEXT = fixtureText();
const findDecoder = (name: FixtureName): DecoderName =>
  name.endsWith('.zst') ? 'zstd' : name.endsWith('.xz') ? 'xz' : 'bzip2';

interface Decoded {
  text: Buffer;
  fault: DecodeFault | undefined;
  packedBytes: number;
}

/** Feeds the bytes in pieces of these sizes. */
async function decode(decoder: DecoderName, bytes: Buffer, sizes: readonly number[] = [65_536]): Promise<Decoded> {
  async function* pieces() {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1;
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }
  const parts: Buffer[] = [];
  let packedBytes = -1;
  const onEnd = (end: number) => {
    packedBytes = end;
  };
  let fault: DecodeFault | undefined;
  try {
    for await (const part of decodeChunks(decoder, pieces(), onEnd)) parts.push(part);
  } catch (error) {
    if (!(error instanceof DecodeFault)) throw error;
    fault = error;
  }
  return { text: Buffer.concat(parts), fault, packedBytes };
}

describe.each(FIXTURES)('%s', (name) => {
  const packed = fixture(name);
  const decoder = findDecoder(name);

  test('has the text that was compressed, however it arrives', async () => {
    for (const sizes of [[65_536], [1000, 1, 77]]) {
      const { text, fault, packedBytes } = await decode(decoder, packed, sizes);
      expect(fault).toBeUndefined();
      expect(text.equals(TEXT)).toBe(true);
      expect(packedBytes).toBe(packed.length);
    }
  });

  test('is read up to where it is cut, and that is reported', async () => {
    for (const bytes of [1, 3, 11, packed.length >> 1, packed.length - 1]) {
      const { text, fault } = await decode(decoder, packed.subarray(0, bytes));
      expect(fault).toMatchObject({ message: expect.stringMatching(/^(unexpected end of file|not )/) });
      expect(TEXT.subarray(0, text.length).equals(text)).toBe(true);
    }
  });

  test('is read if garbage follows, which is reported', async () => {
    const { text, fault } = await decode(decoder, Buffer.concat([packed, Buffer.from('garbage')]));
    expect(text.equals(TEXT)).toBe(true);
    expect(fault).toMatchObject({ kind: 'trailing' });
  });

  test('never decodes to another text without saying so', async () => {
    const changes = fc.array(fc.tuple(fc.nat({ max: packed.length - 1 }), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(changes, async (flips) => {
        const damaged = Buffer.from(packed);
        for (const [at, bits] of flips) damaged[at] = (damaged[at] ?? 0) ^ bits;
        const { text, fault } = await decode(decoder, damaged);
        // Without a checksum only what cannot be decoded is noticed.
        if (!fault && name !== 'ultra.zst') expect(text.equals(TEXT)).toBe(true);
      }),
      { numRuns: runs(5) },
    );
  });
});

describe('others run', () => {
  /** Counts the turns of the event loop until the test ends. */
  function countTurns(): () => number {
    let turns = 0;
    let timer = setImmediate(function count() {
      turns++;
      timer = setImmediate(count);
    });
    onTestFinished(() => clearImmediate(timer));
    return () => turns;
  }

  const EMPTY_XZ = Buffer.from('fd377a585a000004e6d6b446000000001cdf44211fb6f37d010000000004595a', 'hex');
  const EMPTY_BZ2 = Buffer.from('425a683917724538509000000000', 'hex');
  const EMPTY_ZSTD = Buffer.from('28b52ffd240001000099e9d851', 'hex');
  const SKIPPABLE_ZSTD = Buffer.from('502a4d1800000000', 'hex');

  /** Each frame claims a window of a byte more. */
  const growingFrames = () =>
    Buffer.concat(
      Array.from({ length: 2000 }, (_, size) => {
        const frame = Buffer.from('28b52ffda000000000010000', 'hex');
        frame.writeUInt32LE(size, 5);
        return frame;
      }),
    );

  test.each<[string, DecoderName, Buffer, number]>([
    ['streams of xz without text', 'xz', Buffer.concat(Array(10_000).fill(EMPTY_XZ)), 80],
    ['the padding of xz', 'xz', Buffer.concat([EMPTY_XZ, Buffer.alloc(400_000)]), 400],
    ['streams of bzip2 without text', 'bzip2', Buffer.concat(Array(20_000).fill(EMPTY_BZ2)), 80],
    ['frames of zstd without text', 'zstd', Buffer.concat(Array(20_000).fill(EMPTY_ZSTD)), 80],
    ['frames of zstd that are skipped', 'zstd', Buffer.concat(Array(20_000).fill(SKIPPABLE_ZSTD)), 40],
    ['frames of zstd that need more and more memory', 'zstd', growingFrames(), 8],
  ])('while %s are decoded', async (_, decoder, packed, least) => {
    const turns = countTurns();
    expect(await decode(decoder, packed, [packed.length])).toMatchObject({ text: Buffer.alloc(0), fault: undefined });
    expect(turns()).toBeGreaterThan(least);
  });

  test('in the middle of a block of bzip2', async () => {
    const turns = countTurns();
    const decoding = decodeChunks(
      'bzip2',
      (async function* () {
        yield fixture('default.bz2');
      })(),
    );
    await decoding.next();
    await decoding.return();
    // Its symbols, and its bytes in order, 65,536 at a time.
    expect(turns()).toBeGreaterThan(TEXT.length / 65_536);
  });

  test('between the steps of several decoders, which never share a turn', async () => {
    const turns = countTurns();
    const names = FIXTURES.flatMap((name) => [name, name]);
    const seen: number[] = [];
    await Promise.all(
      names.map(async (name) => {
        const chunks = (async function* () {
          yield fixture(name);
        })();
        for await (const piece of decodeChunks(findDecoder(name), chunks)) if (piece.length > 0) seen.push(turns());
      }),
    );
    expect(seen.length).toBeGreaterThan(names.length);
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe('what claims to need too much memory is refused', () => {
  const frame = (...header: number[]) => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, ...header, ...Buffer.alloc(64)]);

  test.each([
    ['a window', frame(0x00, 0xff), 'it needs a window of 3932160 MiB; at most 128 MiB are read'],
    ['a text in one segment', frame(0xa0, 0, 0, 0, 0xff), 'it needs a window of 4080 MiB; at most 128 MiB are read'],
    ['a dictionary', frame(0x03, 0x00, 1, 2, 3, 4), 'it needs a zstd dictionary'],
  ])('%s of zstd', async (_, bytes, message) => {
    expect((await decode('zstd', bytes)).fault).toMatchObject({ kind: 'unsupported', message });
  });

  test('a dictionary of xz', async () => {
    // The block header of `xz --lzma2=dict=1GiB`.
    const start = Buffer.from('fd377a585a000004e6d6b446', 'hex');
    const header = Buffer.from('0200210124000000', 'hex');
    const { crc32 } = await import('node:zlib');
    const sum = Buffer.alloc(4);
    sum.writeUInt32LE(crc32(header));
    expect((await decode('xz', Buffer.concat([start, header, sum]))).fault).toMatchObject({
      kind: 'unsupported',
      message: 'it needs a dictionary of 1024 MiB; at most 64 MiB are read',
    });
  });
});

test('other data is no compressed file, and no data is no text', async () => {
  for (const decoder of ['zstd', 'xz', 'bzip2'] as const) {
    const { fault } = await decode(decoder, Buffer.from('2026-06-01 10:00:00.000 a plain line\n'));
    expect(fault).toMatchObject({ kind: 'damaged', message: `not ${decoder} data` });
    expect(await decode(decoder, Buffer.alloc(0))).toEqual({
      text: Buffer.alloc(0),
      fault: undefined,
      packedBytes: 0,
    });
  }
});
