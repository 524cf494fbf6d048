import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** No access for others: bundles are attached to tickets and unpacked in shared places. */
const FILE_MODE = 0o100640;

/** Logs become a tenth larger than with the default level, in 0.4 of its time. */
const LEVEL = 3;

/**
 * A ZIP archive that is written while it is read: a slow reader slows down the writer, and little is buffered. Files are
 * added one after the other. All files have the same timestamp.
 */
export class ZipStream {
  readonly #time: Date;
  readonly #zip = new ZipFile();
  #isDiscarded = false;
  #failure: Error | undefined;

  constructor(timeMs: number) {
    this.#time = new Date(timeMs);
  }

  /** The archive; ends after `end`, and throws the error given to `fail`. Iterate once. */
  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      // A reader that leaves calls `discard`, which ends the file being added before the stream.
      yield* this.#zip.outputStream.iterator({ destroyOnReturn: false });
    } catch (error) {
      throw this.#failure ?? error;
    }
  }

  /**
   * Resolves when the file was read. Chunks are copied, so their buffers may be reused. If the chunks fail, the file
   * ends there and the error is thrown; the archive can continue.
   */
  async add(name: string, chunks: AsyncIterable<Uint8Array>): Promise<{ bytes: number; sha256: string }> {
    const hash = createHash('sha256');
    const isLeft = () => this.#isDiscarded;
    let bytes = 0;
    let failure: unknown;
    const taken = async function* () {
      try {
        for await (const chunk of chunks) {
          if (isLeft()) return;
          hash.update(chunk);
          bytes += chunk.length;
          yield Buffer.from(chunk);
        }
      } catch (error) {
        failure = error;
      }
    };
    const content = Readable.from(taken(), { objectMode: false });
    this.#zip.addReadStream(content, name, { mtime: this.#time, mode: FILE_MODE, compressionLevel: LEVEL });
    await once(content, 'end');
    if (failure !== undefined) throw failure;
    return { bytes, sha256: hash.digest('hex') };
  }

  /** Finishes the archive by writing its directory. */
  end(): void {
    this.#zip.end();
  }

  /** Makes the reader fail, so that it never gets an archive that looks complete. */
  fail(error: Error): void {
    this.#failure = error;
    this.#zip.outputStream.destroy();
  }

  /** The reader has left: ends the file being added; nothing waits for the reader any more. */
  discard(): void {
    this.#isDiscarded = true;
    this.#zip.outputStream.resume();
  }
}
