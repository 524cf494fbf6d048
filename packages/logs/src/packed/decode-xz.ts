import { crc32 } from 'node:zlib';
import { decodeLzma2, Lzma2 } from './lzma2.ts';
import { DecodeFault, type Decoding, type PackedInput, type Step } from './packed-input.ts';
import { createBlockSum } from './xz-sums.ts';

/* The container of xz: streams of blocks, each stream with an index (https://tukaani.org/xz/xz-file-format.txt). */

const MAGIC = Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]);
const HEADER_BYTES = 12;
const FOOTER_BYTES = 12;
const LZMA2_ID = 0x21;

/** Larger dictionaries are rejected: `xz -9` has 64 MiB, and any file may claim gigabytes. */
export const MAX_DICTIONARY_BYTES = 64 * 1024 ** 2;

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
