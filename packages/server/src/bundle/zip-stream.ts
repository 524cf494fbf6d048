import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Condition } from '@porthole/logs';
import { deflateBlocks } from './deflate-blocks.ts';
import { dataDescriptor, directory, localHeader, type ZipEntry } from './zip-format.ts';

/** Of the archive, what may wait for the reader. */
const HELD_BYTES = 64 * 1024;

/**
 * A ZIP archive that is written while it is read: a slow reader slows down the writer, and little is buffered. Files are
 * added one after the other. All files have the same timestamp.
 */
export class ZipStream {
  readonly #timeMs: number;
  readonly #entries: ZipEntry[] = [];
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #offset = 0;
  #isEnded = false;
  #isDiscarded = false;
  #failure: Error | undefined;
  readonly #written = new Condition();
  readonly #taken = new Condition();

  constructor(timeMs: number) {
    this.#timeMs = timeMs;
  }

  /** The archive; ends after `end`, and throws the error given to `fail`. Iterate once. */
  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      if (this.#failure) throw this.#failure;
      const waiting = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#taken.notify();
      for (const chunk of waiting) {
        yield chunk;
        if (this.#failure) throw this.#failure;
      }
      if (this.#waiting.length > 0) continue;
      if (this.#isEnded) return;
      await this.#written.wait();
    }
  }

  /**
   * Resolves when the file was written. Chunks are copied, so their buffers may be reused. If the chunks fail, the file
   * ends there and the error is thrown; the archive can continue.
   */
  async add(name: string, chunks: AsyncIterable<Uint8Array>): Promise<{ bytes: number; sha256: string }> {
    const hash = createHash('sha256');
    const isLeft = () => this.#isDiscarded;
    const entry = { name: Buffer.from(name), crc32: 0, packedBytes: 0, bytes: 0, offset: this.#offset };
    let failure: unknown;
    const taken = async function* () {
      try {
        for await (const chunk of chunks) {
          if (isLeft()) return;
          hash.update(chunk);
          entry.crc32 = crc32(chunk, entry.crc32);
          entry.bytes += chunk.length;
          yield chunk;
        }
      } catch (error) {
        failure = error;
      }
    };
    await this.#write(localHeader(entry.name, this.#timeMs));
    for await (const packed of deflateBlocks(taken())) {
      entry.packedBytes += packed.length;
      await this.#write(packed);
    }
    await this.#write(dataDescriptor(entry));
    this.#entries.push(entry);
    if (failure !== undefined) throw failure;
    return { bytes: entry.bytes, sha256: hash.digest('hex') };
  }

  /** Finishes the archive by writing its directory. */
  end(): void {
    this.#put(directory(this.#entries, { offset: this.#offset, timeMs: this.#timeMs }));
    this.#isEnded = true;
    this.#written.notify();
  }

  /** Makes the reader fail, so that it never gets an archive that looks complete. */
  fail(error: Error): void {
    this.#failure = error;
    this.#release();
    this.#written.notify();
  }

  /** The reader has left: aborts the file being added and releases all resources. */
  discard(): void {
    this.#isDiscarded = true;
    this.#release();
  }

  async #write(bytes: Uint8Array): Promise<void> {
    this.#put(bytes);
    while (this.#waitingBytes > HELD_BYTES) await this.#taken.wait();
  }

  #put(bytes: Uint8Array): void {
    this.#offset += bytes.length;
    if (this.#isDiscarded || this.#failure) return;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#written.notify();
  }

  /** Nobody reads what waits. */
  #release(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#taken.notify();
  }
}
