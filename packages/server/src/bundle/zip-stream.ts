import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** Buffer for a file before compression, and again after it. */
const HELD_BYTES = 64 * 1024;

/** No access for others: bundles are attached to tickets and unpacked in shared places. */
const FILE_MODE = 0o100640;

/**
 * A ZIP archive that is written while it is read: a slow reader slows down the writer, and nothing is buffered. Files are
 * added one after the other. All files have the same timestamp.
 */
export class ZipStream {
  readonly #zip = new ZipFile();
  readonly #output: Readable;
  readonly #time: Date;
  #isDiscarded = false;

  constructor(timeMs: number) {
    this.#time = new Date(timeMs);
    this.#output = this.#zip.outputStream as Readable;
    this.#zip.on('error', (error: Error) => this.fail(error));
    this.#output.on('error', () => {}); // thrown to the reader, if there still is one
  }

  /** The archive; ends after `end`, and throws the error given to `fail`. Iterate once. */
  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    // Not destroyed when the reader leaves: a running compression must be able to finish.
    for await (const chunk of this.#output.iterator({ destroyOnReturn: false })) yield chunk as Uint8Array;
  }

  /**
   * Resolves when the file was written. Chunks are copied, so their buffers may be reused. If the chunks fail, the file
   * ends there and the error is thrown; the archive can continue.
   */
  async add(name: string, chunks: AsyncIterable<Uint8Array>): Promise<{ bytes: number; sha256: string }> {
    const hash = createHash('sha256');
    let bytes = 0;
    let failure: unknown;
    const taken = async function* (isLeft: () => boolean) {
      try {
        for await (const chunk of chunks) {
          if (isLeft()) return;
          const copy = Buffer.from(chunk);
          hash.update(copy);
          bytes += copy.length;
          if (copy.length > 0) yield copy;
        }
      } catch (error) {
        failure = error;
      }
    };
    const source = Readable.from(
      taken(() => this.#isDiscarded),
      { objectMode: false, highWaterMark: HELD_BYTES },
    );
    const ended = new Promise<void>((resolve) => source.once('close', resolve));
    this.#zip.addReadStream(source, name, { mtime: this.#time, mode: FILE_MODE });
    await ended;
    if (failure !== undefined) throw failure;
    return { bytes, sha256: hash.digest('hex') };
  }

  /** Finishes the archive by writing its directory. */
  end(): void {
    this.#zip.end();
  }

  /** Makes the reader fail, so that it never gets an archive that looks complete. */
  fail(error: Error): void {
    this.#output.destroy(error);
  }

  /** The reader has left: aborts the file being added and releases all resources. */
  discard(): void {
    this.#isDiscarded = true;
    this.#output.resume();
  }
}
