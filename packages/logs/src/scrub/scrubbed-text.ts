import type { TextReader } from '../scan/text-reader.ts';
import type { Scrubber } from './scrubber.ts';

/** Longer parts are masked where they are, and only what stands around their ends is looked at beside. */
const MIN_IN_PLACE_BYTES = 64 * 1024;

/** A text whose secrets are masked wherever it is read, by looking at what stands around. */
export class ScrubbedText implements TextReader {
  readonly sizeBytes: number;
  readonly start: number;
  readonly unscrubbed: TextReader;
  readonly #scrubber: Scrubber;
  #room: Buffer = Buffer.alloc(0);

  constructor(text: TextReader, scrubber: Scrubber) {
    this.sizeBytes = text.sizeBytes;
    this.start = text.start ?? 0;
    this.unscrubbed = text;
    this.#scrubber = scrubber;
  }

  read(target: Buffer, at: number, position: number, length: number): number {
    const stop = Math.min(position + Math.min(length, target.length - at), this.sizeBytes);
    if (stop <= position) return 0;
    if (stop - position < MIN_IN_PLACE_BYTES) return this.#readMasked(target, at, { position, stop });
    const got = this.unscrubbed.read(target, at, position, stop - position);
    this.#scrubber.mask(target.subarray(at, at + got), { atEnd: stop >= this.sizeBytes });
    // A secret may begin before it, or end behind it.
    const { leftBytes, rightBytes } = this.#scrubber;
    if (position > 0) this.#readMasked(target, at, { position, stop: Math.min(position + leftBytes, stop) });
    const last = Math.max(position, stop - rightBytes);
    if (stop < this.sizeBytes) this.#readMasked(target, at + (last - position), { position: last, stop });
    return got;
  }

  #readMasked(target: Buffer, at: number, { position, stop }: { position: number; stop: number }): number {
    const { leftBytes, rightBytes } = this.#scrubber;
    const start = Math.max(0, position - leftBytes);
    const end = Math.min(stop + rightBytes, this.sizeBytes);
    if (this.#room.length < end - start) this.#room = Buffer.allocUnsafeSlow(end - start);
    const bytes = this.#room.subarray(0, this.unscrubbed.read(this.#room, 0, start, end - start));
    const range = { from: position - start, to: Math.min(stop - start, bytes.length) };
    this.#scrubber.mask(bytes, { ...range, atEnd: start + bytes.length >= this.sizeBytes });
    return bytes.copy(target, at, range.from, range.to);
  }
}
