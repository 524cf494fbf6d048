/** Why the text of a compressed file ends where it does. */
export type DecodeFaultKind = 'cut' | 'damaged' | 'trailing' | 'unsupported';

/** Compressed data that cannot be decoded, or not completely. What precedes it was decoded. */
export class DecodeFault extends Error {
  override readonly name = 'DecodeFault';
  readonly kind: DecodeFaultKind;

  constructor(kind: DecodeFaultKind, detail: string) {
    super(detail);
    this.kind = kind;
  }
}

/** What a decoder yields: a piece of text, empty if it only lets others run, or `undefined` to ask for more input. */
export type Step = Uint8Array | undefined;

/**
 * The text of compressed data, in pieces that are valid until the next one is requested; each takes a few milliseconds
 * at most, whether it makes text or not. Throws `DecodeFault`.
 */
export type Decoding = Generator<Step, void, undefined>;

/** Yielded by a decoder that has worked for a while without making text. */
export const NOTHING_YET = new Uint8Array(0);

/**
 * A decoder asks for input before all that it does, so this many requests are a step: a file may consist of padding, or
 * of streams without text. They take a millisecond.
 */
const STEP_REQUESTS = 1024;

/** Compressed bytes as they arrive, for a decoder that waits for the number of them it needs. */
export class PackedInput {
  #bytes: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  #requests = 0;
  /** Offset in the file of the next byte. */
  position = 0;

  /** The bytes are copied. */
  push(bytes: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
  }

  end(): void {
    this.#hasEnded = true;
  }

  get available(): number {
    return this.#bytes.length;
  }

  /** Waits for that many bytes, or for all that are left. */
  *atLeast(count: number): Generator<Step, Buffer, undefined> {
    if (++this.#requests % STEP_REQUESTS === 0) yield NOTHING_YET;
    while (this.#bytes.length < count && !this.#hasEnded) yield undefined;
    return this.#bytes;
  }

  /** The next bytes, without consuming them; fails if there are fewer. */
  *peek(count: number): Generator<Step, Buffer, undefined> {
    const bytes = yield* this.atLeast(count);
    if (bytes.length < count) throw this.cut();
    return bytes.subarray(0, count);
  }

  *take(count: number): Generator<Step, Buffer, undefined> {
    const bytes = yield* this.peek(count);
    this.skip(count);
    return bytes;
  }

  /** Consumes bytes that are available. */
  skip(count: number): void {
    this.#bytes = this.#bytes.subarray(count);
    this.position += count;
  }

  /** Whether the data ends here. */
  *hasEnded(): Generator<Step, boolean, undefined> {
    return (yield* this.atLeast(1)).length === 0;
  }

  cut(): DecodeFault {
    return new DecodeFault('cut', `unexpected end of file at byte ${this.position + this.#bytes.length}`);
  }

  damaged(what: string): DecodeFault {
    return new DecodeFault('damaged', `${what} at byte ${this.position}`);
  }

  trailing(): DecodeFault {
    return new DecodeFault('trailing', `trailing garbage at byte ${this.position} is ignored`);
  }
}
