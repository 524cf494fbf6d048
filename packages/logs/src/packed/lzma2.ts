import { type LzmaKernel, loadLzmaKernel } from './decoder-kernels.ts';
import { type Decoding, NOTHING_YET, type PackedInput } from './packed-input.ts';
import type { BlockSum } from './xz-sums.ts';

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
export class Lzma2 {
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
export function* decodeLzma2(input: PackedInput, lzma2: Lzma2, sum: BlockSum): Decoding {
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
