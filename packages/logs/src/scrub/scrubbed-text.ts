import type { TextReader } from '../scan/text-reader.ts';
import type { CleanText } from './clean-parts.ts';
import type { Scrubber } from './scrubber.ts';

/** Longer parts are masked where they are, and only what stands around their ends is looked at beside. */
const MIN_IN_PLACE_BYTES = 64 * 1024;

/** A text whose secrets are masked wherever it is read, by looking at what stands around. */
export class ScrubbedText implements TextReader {
  readonly sizeBytes: number;
  readonly start: number;
  readonly unscrubbed: TextReader;
  readonly #scrubber: Scrubber;
  readonly #clean: CleanText | undefined;
  #room: Buffer = Buffer.alloc(0);
  /** Of the last `#readMasked`. */
  #hadSecrets = false;

  /** `clean`: parts in which nothing is to be masked. */
  constructor(text: TextReader, scrubber: Scrubber, clean?: CleanText) {
    this.sizeBytes = text.sizeBytes;
    this.start = text.start ?? 0;
    this.unscrubbed = text;
    this.#scrubber = scrubber;
    this.#clean = clean;
  }

  read(target: Buffer, at: number, position: number, length: number): number {
    const stop = Math.min(position + Math.min(length, target.length - at), this.sizeBytes);
    if (stop <= position) return 0;
    if (stop - position < MIN_IN_PLACE_BYTES) return this.#readMasked(target, at, { position, stop });
    const got = this.unscrubbed.read(target, at, position, stop - position);
    const bytes = target.subarray(at, at + got);
    const atEnd = stop >= this.sizeBytes;
    const hash = atEnd ? undefined : this.#clean?.hashOf(bytes);
    const isClean = hash !== undefined && this.#clean?.has(position, hash) === true;
    // By its stamp, what stands around it is known to be the same, too.
    if (isClean && this.#clean?.isStamped) return got;
    let hasSecrets = !isClean && this.#scrubber.mask(bytes, { atEnd });
    hasSecrets = this.#maskEnds(target, at, { position, stop }) || hasSecrets;
    if (hash !== undefined && !hasSecrets) this.#clean?.add(position, hash);
    return got;
  }

  /** A secret may begin before a part, or end behind it. Returns whether there is any near. */
  #maskEnds(target: Buffer, at: number, { position, stop }: { position: number; stop: number }): boolean {
    const { leftBytes, rightBytes } = this.#scrubber;
    let hasSecrets = false;
    if (position > 0) {
      this.#readMasked(target, at, { position, stop: Math.min(position + leftBytes, stop) });
      hasSecrets = this.#hadSecrets;
    }
    if (stop >= this.sizeBytes) return hasSecrets;
    const last = Math.max(position, stop - rightBytes);
    this.#readMasked(target, at + (last - position), { position: last, stop });
    return hasSecrets || this.#hadSecrets;
  }

  #readMasked(target: Buffer, at: number, { position, stop }: { position: number; stop: number }): number {
    const { leftBytes, rightBytes } = this.#scrubber;
    const start = Math.max(0, position - leftBytes);
    const end = Math.min(stop + rightBytes, this.sizeBytes);
    if (this.#room.length < end - start) this.#room = Buffer.allocUnsafeSlow(end - start);
    const bytes = this.#room.subarray(0, this.unscrubbed.read(this.#room, 0, start, end - start));
    const range = { from: position - start, to: Math.min(stop - start, bytes.length) };
    this.#hadSecrets = this.#scrubber.mask(bytes, { ...range, atEnd: start + bytes.length >= this.sizeBytes });
    return bytes.copy(target, at, range.from, range.to);
  }
}
