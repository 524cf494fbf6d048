import { loadZstdKernel, type ZstdKernel } from './decoder-kernels.ts';
import { DecodeFault, type Decoding, NOTHING_YET, type PackedInput, type Step } from './packed-input.ts';

/* Frames of zstd (RFC 8878, 3.1). */

const MAGIC = 0xfd2fb528;
/** Frames of other data, to be skipped: this and 15 more. */
const SKIPPABLE_MAGIC = 0x184d2a50;

const HAS_CHECKSUM = 0x04;
const IS_SINGLE_SEGMENT = 0x20;

/** Larger windows are rejected: `zstd -19` has 8 MiB, `--long` 128 MiB, and any file may claim gigabytes. */
export const MAX_WINDOW_BYTES = 128 * 1024 ** 2;

/** A multiple of the window is kept, so that it need not be moved after every block. */
const ROOM_BYTES = 1024 ** 2;

const RAW = 0;
const RUN = 1;
const COMPRESSED = 2;

interface Frame {
  windowBytes: number;
  hasChecksum: boolean;
}

export function* decodeZstd(input: PackedInput): Decoding {
  let kernel: { zstd: ZstdKernel; windowBytes: number } | undefined;
  for (let frames = 0; !(yield* input.hasEnded()); frames++) {
    const magic = (yield* input.atLeast(4)).length < 4 ? 0 : (yield* input.peek(4)).readUInt32LE();
    if (magic >>> 4 === SKIPPABLE_MAGIC >>> 4) {
      yield* skipFrame(input);
      continue;
    }
    if (magic !== MAGIC) throw frames > 0 ? input.trailing() : new DecodeFault('damaged', 'not zstd data');
    const frame = yield* readHeader(input);
    if (!kernel || kernel.windowBytes < frame.windowBytes) {
      // At least twice as much as before: each of many frames may need a little more than the one before it.
      const windowBytes = Math.max(frame.windowBytes, Math.min(2 * (kernel?.windowBytes ?? 0), MAX_WINDOW_BYTES));
      kernel = { windowBytes, zstd: loadZstdKernel(windowBytes + Math.max(ROOM_BYTES, windowBytes / 4) + ROOM_BYTES) };
    }
    yield* decodeFrame(input, frame, kernel.zstd);
  }
}

function* skipFrame(input: PackedInput): Generator<Step, void, undefined> {
  for (let left = 8 + (yield* input.peek(8)).readUInt32LE(4); left > 0; ) {
    const available = (yield* input.peek(1)).length > 0 ? input.available : 0;
    input.skip(Math.min(left, available));
    left -= Math.min(left, available);
  }
}

function* readHeader(input: PackedInput): Generator<Step, Frame, undefined> {
  const descriptor = (yield* input.peek(5))[4] ?? 0;
  const isSingle = (descriptor & IS_SINGLE_SEGMENT) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const sizeBytes = descriptor >>> 6 === 0 ? (isSingle ? 1 : 0) : 1 << (descriptor >>> 6);
  const windowAt = 5;
  const sizeAt = windowAt + (isSingle ? 0 : 1) + dictionaryBytes;
  if ((descriptor & 8) !== 0) throw input.damaged('unknown header flags');
  const header = Buffer.from(yield* input.peek(sizeAt + sizeBytes));
  const dictionary = header.subarray(sizeAt - dictionaryBytes, sizeAt);
  if (dictionary.some((byte) => byte !== 0)) throw new DecodeFault('unsupported', 'it needs a zstd dictionary');
  const windowBytes = isSingle ? contentSize(header, sizeAt, sizeBytes) : windowSize(header[windowAt] ?? 0);
  if (windowBytes > MAX_WINDOW_BYTES) {
    const [needed, most] = [windowBytes, MAX_WINDOW_BYTES].map((bytes) => Math.ceil(bytes / 1024 ** 2));
    throw new DecodeFault('unsupported', `it needs a window of ${needed} MiB; at most ${most} MiB are read`);
  }
  input.skip(header.length);
  return { windowBytes, hasChecksum: (descriptor & HAS_CHECKSUM) !== 0 };
}

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >>> 3));
  return base + (base / 8) * (descriptor & 7);
}

function contentSize(header: Buffer, at: number, bytes: number): number {
  if (bytes === 8) return Number(header.readBigUInt64LE(at));
  return header.readUIntLE(at, bytes) + (bytes === 2 ? 256 : 0);
}

function* decodeFrame(input: PackedInput, { windowBytes, hasChecksum }: Frame, zstd: ZstdKernel): Decoding {
  const maxBytes = Math.min(zstd.MAX_BLOCK_BYTES, windowBytes);
  zstd.start();
  if (hasChecksum) zstd.startSum();
  for (let isLast = false; !isLast; ) {
    const header = (yield* input.peek(3)).readUIntLE(0, 3);
    isLast = (header & 1) === 1;
    const [kind, size] = [(header >>> 1) & 3, header >>> 3];
    if (kind > COMPRESSED) throw input.damaged('unknown block type');
    if (size > maxBytes) throw input.damaged('invalid block size');
    const block = (yield* input.peek(3 + (kind === RUN ? 1 : size))).subarray(3);
    while (zstd.out.value + maxBytes > zstd.bytes.length - 64 && !zstd.slide(windowBytes)) yield NOTHING_YET;
    const from = zstd.out.value;
    if (kind === COMPRESSED) decodeBlock(input, zstd, block, maxBytes);
    else {
      if (kind === RAW) block.copy(zstd.bytes, from);
      else zstd.bytes.fill(block[0] ?? 0, from, from + size);
      zstd.putOut(from + size);
    }
    input.skip(3 + block.length);
    if (hasChecksum) zstd.addToSum(from, zstd.out.value);
    if (zstd.out.value > from) yield zstd.bytes.subarray(from, zstd.out.value);
  }
  if (hasChecksum && (yield* input.take(4)).readUInt32LE() !== zstd.sumLow() >>> 0) {
    throw input.damaged('the text does not match the checksum');
  }
}

function decodeBlock(input: PackedInput, zstd: ZstdKernel, block: Buffer, maxBytes: number): void {
  block.copy(zstd.bytes, zstd.INPUT);
  const fault = zstd.fault(zstd.run(block.length, maxBytes));
  if (fault !== undefined) throw input.damaged(fault);
}
