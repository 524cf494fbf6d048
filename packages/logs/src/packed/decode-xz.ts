import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type LzmaKernel, loadLzmaKernel } from './decoder-kernels.ts';
import { DecodeFault, type Decoding, NOTHING_YET, type PackedInput, type Step } from './packed-input.ts';

/* The container of xz: streams of blocks, each stream with an index (https://tukaani.org/xz/xz-file-format.txt). */

const MAGIC = Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]);
const HEADER_BYTES = 12;
const FOOTER_BYTES = 12;
const LZMA2_ID = 0x21;

/** Larger dictionaries are rejected: `xz -9` has 64 MiB, and any file may claim gigabytes. */
const MAX_DICTIONARY_BYTES = 64 * 1024 ** 2;

export function* decodeXz(input: PackedInput): Decoding {
  const lzma2 = new Lzma2();
  for (let streams = 0; !(yield* input.hasEnded()); streams++) {
    if (streams > 0 && (yield* skipPadding(input))) return;
    const check = yield* readStreamHeader(input, streams);
    while (((yield* input.peek(1))[0] ?? 0) !== 0) yield* decodeBlock(input, check, lzma2);
    yield* skipIndex(input);
    yield* input.take(FOOTER_BYTES);
  }
}

/** Zeros may follow a stream. Returns whether the data ends after them. */
function* skipPadding(input: PackedInput): Generator<Step, boolean, undefined> {
  while (!(yield* input.hasEnded())) {
    if ((yield* input.peek(1))[0] !== 0) return false;
    input.skip(1);
  }
  return true;
}

/** Returns the kind of the checksums. */
function* readStreamHeader(input: PackedInput, streams: number): Generator<Step, number, undefined> {
  const start = yield* input.atLeast(MAGIC.length);
  if (!start.subarray(0, MAGIC.length).equals(MAGIC)) {
    if (streams > 0) throw input.trailing();
    throw start.length < MAGIC.length && MAGIC.subarray(0, start.length).equals(start)
      ? input.cut()
      : new DecodeFault('damaged', 'not xz data');
  }
  const header = yield* input.peek(HEADER_BYTES);
  if (crc32(header.subarray(6, 8)) !== header.readUInt32LE(8)) throw input.damaged('checksum mismatch of the header');
  if (header[6] !== 0 || (header[7] ?? 0) > 0x0f) throw new DecodeFault('unsupported', 'it has unknown xz flags');
  input.skip(HEADER_BYTES);
  return header[7] ?? 0;
}

function* decodeBlock(input: PackedInput, check: number, lzma2: Lzma2): Decoding {
  const headerBytes = (((yield* input.peek(1))[0] ?? 0) + 1) * 4;
  const header = yield* input.peek(headerBytes);
  if (crc32(header.subarray(0, -4)) !== header.readUInt32LE(headerBytes - 4)) {
    throw input.damaged('checksum mismatch of a block header');
  }
  const dictionaryBytes = readDictionarySize(header);
  if (dictionaryBytes > MAX_DICTIONARY_BYTES) {
    const [needed, most] = [dictionaryBytes, MAX_DICTIONARY_BYTES].map((bytes) => Math.ceil(bytes / 1024 ** 2));
    throw new DecodeFault('unsupported', `it needs a dictionary of ${needed} MiB; at most ${most} MiB are read`);
  }
  input.skip(headerBytes);
  const start = input.position;
  const sum = createBlockSum(check, lzma2.reserve(dictionaryBytes));
  yield* decodeLzma2(input, lzma2, sum);
  const padding = (4 - ((input.position - start) % 4)) % 4;
  if ((yield* input.take(padding)).some((byte) => byte !== 0)) throw input.damaged('invalid padding');
  const stored = yield* input.take(sum.bytes);
  if (!sum.matches(stored)) throw input.damaged('a block does not match its checksum');
}

function readDictionarySize(header: Buffer): number {
  const flags = header[1] ?? 0;
  const fields = new HeaderFields(header);
  if ((flags & 0x3c) !== 0) throw new DecodeFault('unsupported', 'it has unknown xz block flags');
  if ((flags & 0x40) !== 0) fields.next();
  if ((flags & 0x80) !== 0) fields.next();
  const isOnlyLzma2 = (flags & 3) === 0 && fields.next() === LZMA2_ID && fields.next() === 1;
  const bits = fields.byte();
  if (!isOnlyLzma2 || bits > 40) throw new DecodeFault('unsupported', 'it uses a filter of xz that is not read');
  return bits === 40 ? 2 ** 32 - 1 : (2 + (bits % 2)) * 2 ** (Math.floor(bits / 2) + 11);
}

class HeaderFields {
  readonly #header: Buffer;
  #at = 2;

  constructor(header: Buffer) {
    this.#header = header;
  }

  byte(): number {
    return this.#header[this.#at++] ?? 0;
  }

  /** A number of seven bits per byte. */
  next(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }
}

/** The index repeats the sizes of the blocks: needed to read from the middle, which is not done here. */
function* skipIndex(input: PackedInput): Generator<Step, void, undefined> {
  const start = input.position;
  input.skip(1);
  const blocks = yield* takeNumber(input);
  for (let left = 2 * blocks; left > 0; left--) yield* takeNumber(input);
  yield* input.take((4 - ((input.position - start) % 4)) % 4);
  yield* input.take(4);
}

const MAX_NUMBER_BYTES = 9;

function* takeNumber(input: PackedInput): Generator<Step, number, undefined> {
  let value = 0;
  for (let i = 0; i < MAX_NUMBER_BYTES; i++) {
    const byte = (yield* input.take(1))[0] ?? 0;
    value += (byte & 127) * 128 ** i;
    if (byte < 128) return value;
  }
  throw input.damaged('invalid index');
}

/** Text decoded in one step: a few milliseconds. */
const STEP_BYTES = 64 * 1024;

/** More than the dictionary is kept, so that it need not be moved after every step; a match is shorter than the rest. */
const ROOM_BYTES = 1024 ** 2;

/** The longest text of a chunk. */
const MAX_CHUNK_BYTES = 2 * 1024 ** 2;

// Bits of the byte before a chunk.
const END = 0x00;
const PLAIN_WITH_RESET = 0x01;
const PLAIN = 0x02;
const IS_LZMA = 0x80;
const RESETS_STATE = 0xa0;
const HAS_PROPERTIES = 0xc0;
const RESETS_DICTIONARY = 0xe0;

/** The decoder of a file; its memory is used again for the next block. */
class Lzma2 {
  #kernel: LzmaKernel | undefined;
  #dictionaryBytes = 0;

  /** Makes sure that there is room for a dictionary of this size. */
  reserve(dictionaryBytes: number): LzmaKernel {
    if (!this.#kernel || dictionaryBytes > this.#dictionaryBytes) {
      this.#kernel = loadLzmaKernel(dictionaryBytes + Math.max(ROOM_BYTES, dictionaryBytes / 4) + MAX_CHUNK_BYTES);
      this.#dictionaryBytes = dictionaryBytes;
    }
    return this.#kernel;
  }

  get kernel(): LzmaKernel {
    return this.#kernel ?? this.reserve(0);
  }

  /** Makes room for the text of one chunk, step by step. Returns whether there is. */
  makeRoom(): boolean {
    const { kernel } = this;
    return kernel.out.value + MAX_CHUNK_BYTES <= kernel.bytes.length || Boolean(kernel.slide(this.#dictionaryBytes));
  }
}

/** Decodes the chunks of a block, up to the byte that ends it. */
function* decodeLzma2(input: PackedInput, lzma2: Lzma2, sum: BlockSum): Decoding {
  const { kernel } = lzma2;
  let needsReset = true;
  let needsProperties = true;
  while (true) {
    const control = (yield* input.peek(1))[0] ?? 0;
    if (control === END) return input.skip(1);
    if (control >= RESETS_DICTIONARY || control === PLAIN_WITH_RESET) {
      kernel.resetDictionary();
      needsReset = false;
      needsProperties = true;
    }
    if (control >= HAS_PROPERTIES) needsProperties = false;
    const isKnown = control >= IS_LZMA || control <= PLAIN;
    if (!isKnown || needsReset || (control >= IS_LZMA && needsProperties)) throw input.damaged('invalid chunk');
    while (!lzma2.makeRoom()) yield NOTHING_YET;
    yield* control < IS_LZMA ? copyChunk(input, kernel, sum) : decodeChunk(input, { control, kernel, sum });
  }
}

function* copyChunk(input: PackedInput, kernel: LzmaKernel, sum: BlockSum): Decoding {
  const bytes = (yield* input.peek(3)).readUInt16BE(1) + 1;
  const chunk = yield* input.peek(3 + bytes);
  chunk.copy(kernel.bytes, kernel.INPUT, 3);
  const from = kernel.out.value;
  kernel.copyPlain(bytes);
  input.skip(3 + bytes);
  sum.add(from, kernel.out.value);
  yield kernel.bytes.subarray(from, kernel.out.value);
}

interface Chunk {
  control: number;
  kernel: LzmaKernel;
  sum: BlockSum;
}

function* decodeChunk(input: PackedInput, { control, kernel, sum }: Chunk): Decoding {
  const headerBytes = control >= HAS_PROPERTIES ? 6 : 5;
  const header = yield* input.peek(headerBytes);
  const textBytes = ((control & 0x1f) << 16) + header.readUInt16BE(1) + 1;
  const packedBytes = header.readUInt16BE(3) + 1;
  if (control >= HAS_PROPERTIES && !kernel.setProperties(header[5] ?? 0)) throw input.damaged('invalid properties');
  if (control >= RESETS_STATE) kernel.resetState();
  const chunk = yield* input.peek(headerBytes + packedBytes);
  chunk.copy(kernel.bytes, kernel.INPUT, headerBytes);
  if (!kernel.startChunk(packedBytes)) throw input.damaged('invalid chunk');
  const chunkEnd = kernel.out.value + textBytes;
  for (let isDone = false; !isDone; ) {
    const from = kernel.out.value;
    const result = kernel.run(chunkEnd, from + STEP_BYTES);
    const fault = kernel.fault(result);
    if (fault !== undefined) throw input.damaged(fault);
    isDone = result !== kernel.FULL;
    sum.add(from, kernel.out.value);
    yield kernel.bytes.subarray(from, kernel.out.value);
  }
  if (!kernel.inputIsUsed(packedBytes)) throw input.damaged('invalid end of a chunk');
  input.skip(headerBytes + packedBytes);
}

/** The checksum of the text of a block. */
interface BlockSum {
  /** Its length in the file. */
  bytes: number;
  /** Adds text in the memory of the kernel. */
  add(from: number, end: number): void;
  matches(stored: Buffer): boolean;
}

const CRC32 = 1;
const CRC64 = 4;
const SHA256 = 10;

/** A checksum that is not known is skipped, as xz does. */
function createBlockSum(check: number, lzma: LzmaKernel): BlockSum {
  if (check === CRC64) return createCrc64(lzma);
  if (check === CRC32) return createCrc32(lzma);
  if (check === SHA256) return createSha256(lzma);
  const bytes = check === 0 ? 0 : 4 * 2 ** Math.floor((check - 1) / 3);
  return { bytes, add: () => {}, matches: () => true };
}

function createCrc64(lzma: LzmaKernel): BlockSum {
  lzma.startSum();
  return {
    bytes: 8,
    add: lzma.addToSum,
    matches: (stored) =>
      stored.readUInt32LE(0) === lzma.sumLow() >>> 0 && stored.readUInt32LE(4) === lzma.sumHigh() >>> 0,
  };
}

function createCrc32({ bytes }: LzmaKernel): BlockSum {
  let sum = 0;
  return {
    bytes: 4,
    add(from, end) {
      sum = crc32(bytes.subarray(from, end), sum);
    },
    matches: (stored) => stored.readUInt32LE(0) === sum,
  };
}

function createSha256({ bytes }: LzmaKernel): BlockSum {
  const hash = createHash('sha256');
  return {
    bytes: 32,
    add: (from, end) => void hash.update(bytes.subarray(from, end)),
    matches: (stored) => stored.equals(hash.digest()),
  };
}
