import type { TextReader } from '../scan/block/text-reader.ts';
import type { CleanText, HashedParts } from './clean-ranges.ts';
import type { Scrubber } from './scrubber.ts';

/** Longer parts are masked in place; shorter ones are copied together with their surroundings. */
const MIN_IN_PLACE_BYTES = 64 * 1024;

/** A part of a text. */
interface Part {
  position: number;
  stop: number;
}

export interface ScrubbedTextOptions {
  /** Ranges without secrets. The caller checks the stamp of the file afterwards: see `CleanReads`. */
  clean?: CleanText | undefined;
  /** The same for a text that is still being written: by its hash. */
  hashed?: HashedParts | undefined;
  /** See `ScanKernel.memoryAround`. */
  memoryAround?: ((target: Buffer, at: number, around: Around) => Buffer | undefined) | undefined;
}

export interface Around {
  /** Bytes before the position. */
  before: number;
  /** Bytes in all. */
  length: number;
}

/** A text whose secrets are masked wherever it is read, taking the surroundings of each read into account. */
export class ScrubbedText implements TextReader {
  readonly sizeBytes: number;
  readonly start: number;
  readonly unscrubbed: TextReader;
  readonly #scrubber: Scrubber;
  readonly #options: ScrubbedTextOptions;
  #room: Buffer = Buffer.alloc(0);
  /** Whether the last read contained, or was next to, anything to mask. */
  #hadSecrets = false;

  constructor(text: TextReader, scrubber: Scrubber, options: ScrubbedTextOptions = {}) {
    this.sizeBytes = text.sizeBytes;
    this.start = text.start ?? 0;
    this.unscrubbed = text;
    this.#scrubber = scrubber;
    this.#options = options;
  }

  read(target: Buffer, at: number, position: number, length: number): number {
    const stop = Math.min(position + Math.min(length, target.length - at), this.sizeBytes);
    if (stop <= position) return 0;
    if (stop - position < MIN_IN_PLACE_BYTES) return this.#readCopy(target, at, { position, stop });
    const { clean } = this.#options;
    if (clean?.covers(position, stop)) return this.unscrubbed.read(target, at, position, stop - position);
    const got = this.#readInPlace(target, at, { position, stop });
    if (!this.#hadSecrets) clean?.add(position, stop);
    return got;
  }

  #readInPlace(target: Buffer, at: number, part: Part): number {
    const { position } = part;
    const { start, end } = this.#withSurroundings(part);
    const around = { before: position - start, length: end - start };
    const memory = this.#options.memoryAround?.(target, at, around);
    if (memory) {
      const { from, to } = this.#readMasked(memory, part);
      return to - from;
    }
    const got = this.unscrubbed.read(target, at, position, part.stop - position);
    this.#hadSecrets = this.#scrubber.mask(target.subarray(at, at + got), { atEnd: part.stop >= this.sizeBytes });
    this.#maskEnds(target, at, part);
    return got;
  }

  /** A secret may begin before a part, or end after it. */
  #maskEnds(target: Buffer, at: number, { position, stop }: Part): void {
    const { leftBytes, rightBytes } = this.#scrubber;
    let hadSecrets = this.#hadSecrets;
    if (position > 0) {
      this.#readCopy(target, at, { position, stop: Math.min(position + leftBytes, stop) });
      hadSecrets ||= this.#hadSecrets;
    }
    if (stop < this.sizeBytes) {
      const last = Math.max(position, stop - rightBytes);
      this.#readCopy(target, at + (last - position), { position: last, stop });
      hadSecrets ||= this.#hadSecrets;
    }
    this.#hadSecrets = hadSecrets;
  }

  #readCopy(target: Buffer, at: number, part: Part): number {
    const { start, end } = this.#withSurroundings(part);
    if (this.#room.length < end - start) this.#room = Buffer.allocUnsafeSlow(end - start);
    const { from, to } = this.#readMasked(this.#room, part);
    return this.#room.copy(target, at, from, to);
  }

  /** Reads a part and its surroundings to the start of a buffer, and masks the part. Returns where it is. */
  #readMasked(buffer: Buffer, part: Part): { from: number; to: number } {
    const { start, end } = this.#withSurroundings(part);
    const bytes = buffer.subarray(0, this.unscrubbed.read(buffer, 0, start, end - start));
    const range = { from: part.position - start, to: Math.min(part.stop - start, bytes.length) };
    const atEnd = start + bytes.length >= this.sizeBytes;
    const { hashed } = this.#options;
    const hash = atEnd ? undefined : hashed?.hash(bytes);
    if (hash !== undefined && hashed?.has(start, hash)) {
      this.#hadSecrets = false;
      return range;
    }
    this.#hadSecrets = this.#scrubber.mask(bytes, { ...range, atEnd });
    if (hash !== undefined && !this.#hadSecrets) hashed?.add(start, hash);
    return range;
  }

  #withSurroundings({ position, stop }: Part): { start: number; end: number } {
    const { leftBytes, rightBytes } = this.#scrubber;
    return { start: Math.max(0, position - leftBytes), end: Math.min(stop + rightBytes, this.sizeBytes) };
  }
}
