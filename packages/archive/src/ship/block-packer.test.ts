import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BlockPacker } from './block-packer.ts';

/** `MORE=20 SEED=random` searches for new cases. */
const MORE = Number(process.env.MORE ?? 1);

const CHECKSUM_BYTES = 16;
const HEADER_BYTES = 9;
const MAX_BLOCK_BYTES = 1024 ** 2;

const packer = new BlockPacker();

const words = fc.constantFrom('{"cluster":"prod","node":"', 'flushed shard ', 'aaaa', '","level":"INFO"}\n', 'é', '0');
const noise = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes));
const part = fc.oneof(
  words.map((word) => Buffer.from(word)),
  noise,
  // Longer than what a match can reach back for, and than lengths of one byte.
  fc
    .tuple(noise, fc.integer({ min: 1, max: 3000 }))
    .map(([bytes, times]) => Buffer.concat(Array.from({ length: bytes.length === 0 ? 0 : times }, () => bytes))),
  fc
    .tuple(fc.nat({ max: 255 }), fc.integer({ min: 1, max: 70_000 }))
    .map(([byte, length]) => Buffer.alloc(length, byte)),
);
const input = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.array(part, { maxLength: 8 }).map((parts) => {
    const bytes = Buffer.concat(parts);
    // Again, at another distance.
    return Buffer.concat([bytes, Buffer.from('|'), bytes.subarray(0, MAX_BLOCK_BYTES)]);
  }),
);

it('what is packed is unpacked by the rules of the format', async () => {
  await fc.assert(
    fc.asyncProperty(input, async (bytes) => {
      expect(unpack(await packer.pack(bytes)).equals(bytes)).toBe(true);
    }),
    { numRuns: 40 * MORE },
  );
});

it.each([
  ['nothing', 0, 0],
  ['all that one block takes', MAX_BLOCK_BYTES, 1],
  ['one byte more', MAX_BLOCK_BYTES + 1, 2],
])('%s: %d bytes of noise, of rows, and of zeros', async (_, length, blocks) => {
  let state = 1;
  const noisy = Buffer.alloc(length);
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    noisy[at] = state >>> 24;
  }
  const rows = Buffer.alloc(length).fill('{"node":"a","line":"flushed"}\n');
  for (const bytes of [noisy, rows, Buffer.alloc(length)]) {
    const packed = await packer.pack(bytes);
    expect(unpack(packed).equals(bytes)).toBe(true);
    expect(splitBlocks(packed)).toHaveLength(blocks);
    expect(packed.length).toBeLessThanOrEqual(length * (bytes === noisy ? 1.004 : 0.01) + 100 * blocks);
  }
});

/** Byte by byte, as the format is written down; whatever it does not allow throws. */
function unpack(packed: Buffer): Buffer {
  return Buffer.concat(splitBlocks(packed).map(unpackBlock));
}

/** Blocks without their checksums: those are verified by a server, in clickhouse.test.ts. */
function splitBlocks(packed: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  for (let at = 0; at < packed.length; ) {
    const size = packed.readUInt32LE(at + CHECKSUM_BYTES + 1);
    blocks.push(packed.subarray(at + CHECKSUM_BYTES, at + CHECKSUM_BYTES + size));
    at += CHECKSUM_BYTES + size;
    if (at > packed.length) throw new Error('a block ends behind its end');
  }
  return blocks;
}

function unpackBlock(block: Buffer): Buffer {
  if (block[0] !== 0x82) throw new Error(`method ${block[0]}`);
  const size = block.readUInt32LE(5);
  const output = Buffer.alloc(size);
  let at = HEADER_BYTES;
  let length = 0;
  const more = (first: number) => {
    let sum = first;
    for (let byte = first === 15 ? 255 : 0; byte === 255; sum += byte) byte = block.readUInt8(at++);
    return sum;
  };
  for (let isLast = false; !isLast; ) {
    const token = block.readUInt8(at++);
    const literals = more(token >> 4);
    if (at + literals > block.length || length + literals > size) throw new Error('too many literals');
    block.copy(output, length, at, at + literals);
    at += literals;
    length += literals;
    isLast = at === block.length;
    if (isLast) {
      if (length !== size) throw new Error(`${length} bytes, expected ${size}`);
      if (length > 12 && literals < 5) throw new Error('a block ends with five literals');
      break;
    }
    const distance = block.readUInt16LE(at);
    at += 2;
    if (distance === 0 || distance > length) throw new Error(`distance ${distance} at ${length}`);
    if (length > size - 12) throw new Error('no match starts in the last twelve bytes');
    const end = length + more(token & 15) + 4;
    for (; length < end; length++) output.writeUInt8(output.readUInt8(length - distance), length);
  }
  return output;
}
