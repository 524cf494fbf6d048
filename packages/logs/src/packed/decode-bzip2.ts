import { type BunzipKernel, loadBunzipKernel } from './decoder-kernels.ts';
import { DecodeFault, type Decoding, NOTHING_YET, type PackedInput, type Step } from './packed-input.ts';

const LEVEL_BYTES = 100_000;

// 48 bits: the digits of pi before a block, those of its square root before the end of a stream.
const BLOCK = [0x314159, 0x265359] as const;
const STREAM_END = [0x177245, 0x385090] as const;

/** A block of log text has less than this; if one has more, twice as much is awaited each time. */
const FIRST_ATTEMPT_BYTES = 256 * 1024;

export function* decodeBzip2(input: PackedInput): Decoding {
  const kernel = loadBunzipKernel();
  for (let streams = 0; !(yield* input.hasEnded()); streams++) {
    const header = yield* input.atLeast(4);
    const level = (header[3] ?? 0) - 0x30;
    if (header.toString('latin1', 0, 3) !== 'BZh' || level < 1 || level > 9) {
      if (streams > 0) throw input.trailing();
      throw header.length < 4 ? input.cut() : new DecodeFault('damaged', 'not bzip2 data');
    }
    input.skip(4);
    yield* decodeStream(input, kernel, level * LEVEL_BYTES);
  }
}

function* decodeStream(input: PackedInput, kernel: BunzipKernel, maxBytes: number): Decoding {
  const bits = new KernelBits(input, kernel);
  let streamSum = 0;
  while (true) {
    const kind = [yield* bits.read(24), yield* bits.read(24)];
    const sum = yield* bits.read(32);
    if (isSame(kind, STREAM_END)) {
      if (sum !== streamSum) throw input.damaged('the text does not match the checksum');
      bits.alignToByte();
      return;
    }
    if (!isSame(kind, BLOCK)) throw input.damaged('unknown block type');
    yield* bits.decodeBlock(maxBytes);
    for (let bytes = kernel.write(); bytes > 0; bytes = kernel.write()) {
      yield kernel.bytes.subarray(kernel.OUTPUT, kernel.OUTPUT + bytes);
    }
    if (kernel.blockSum() >>> 0 !== sum) throw input.damaged('a block does not match its checksum');
    streamSum = (((streamSum << 1) | (streamSum >>> 31)) ^ sum) >>> 0;
  }
}

function isSame(kind: readonly number[], wanted: readonly [number, number]): boolean {
  return kind[0] === wanted[0] && kind[1] === wanted[1];
}

/** The input as bits: blocks do not begin at bytes. */
class KernelBits {
  readonly #input: PackedInput;
  readonly #kernel: BunzipKernel;
  /** Bits of the next byte that are consumed. */
  #used = 0;

  constructor(input: PackedInput, kernel: BunzipKernel) {
    this.#input = input;
    this.#kernel = kernel;
  }

  *read(count: number): Generator<Step, number, undefined> {
    const bytes = yield* this.#input.peek(Math.ceil((this.#used + count) / 8));
    const { INPUT, bytes: memory } = this.#kernel;
    bytes.copy(memory, INPUT);
    const value = this.#kernel.readBits(INPUT * 8 + this.#used, (INPUT + bytes.length) * 8, count);
    this.#advance(count);
    return value >>> 0;
  }

  /** Blocks do not say how long they are: one whose end is missing is decoded again when there is more input. */
  *decodeBlock(maxBytes: number): Generator<Step, void, undefined> {
    const { INPUT, INPUT_BYTES, NEEDS_INPUT, MORE, bytes: memory, ...kernel } = this.#kernel;
    for (let wanted = FIRST_ATTEMPT_BYTES; ; wanted *= 2) {
      const bytes = (yield* this.#input.atLeast(wanted)).subarray(0, INPUT_BYTES);
      bytes.copy(memory, INPUT);
      const from = INPUT * 8 + this.#used;
      let result = kernel.decode(from, (INPUT + bytes.length) * 8, maxBytes);
      for (; result === MORE; result = kernel.resume()) yield NOTHING_YET;
      const fault = kernel.fault(result);
      if (fault !== undefined) throw this.#input.damaged(fault);
      if (result !== NEEDS_INPUT) return this.#advance(kernel.bitPosition() - from);
      if (bytes.length === INPUT_BYTES) throw this.#input.damaged('block without end');
      if (bytes.length < wanted) throw this.#input.cut();
    }
  }

  alignToByte(): void {
    if (this.#used > 0) this.#advance(8 - this.#used);
  }

  #advance(bits: number): void {
    const at = this.#used + bits;
    this.#input.skip(Math.floor(at / 8));
    this.#used = at % 8;
  }
}
