import type { TextReader } from '../scan/text-reader.ts';
import type { Scrubber } from './scrubber.ts';

/** A text whose secrets are masked wherever it is read, by looking at what stands around. */
export class ScrubbedText implements TextReader {
  readonly sizeBytes: number;
  readonly unscrubbed: TextReader;
  readonly #scrubber: Scrubber;
  #room: Buffer = Buffer.alloc(0);

  constructor(text: TextReader, scrubber: Scrubber) {
    this.sizeBytes = text.sizeBytes;
    this.unscrubbed = text;
    this.#scrubber = scrubber;
  }

  read(target: Buffer, at: number, position: number, length: number): number {
    const { leftBytes, rightBytes } = this.#scrubber;
    const start = Math.max(0, position - leftBytes);
    const stop = Math.min(position + Math.min(length, target.length - at), this.sizeBytes);
    const end = Math.min(stop + rightBytes, this.sizeBytes);
    if (stop <= position) return 0;
    if (this.#room.length < end - start) this.#room = Buffer.allocUnsafeSlow(end - start);
    const bytes = this.#room.subarray(0, this.unscrubbed.read(this.#room, 0, start, end - start));
    const range = { from: position - start, to: Math.min(stop - start, bytes.length) };
    this.#scrubber.mask(bytes, { ...range, atEnd: start + bytes.length >= this.sizeBytes });
    return bytes.copy(target, at, range.from, range.to);
  }
}
