import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** What is held of a file on its way into the archive, and again behind the compression. */
const HELD_BYTES = 64 * 1024;

/** Nothing for others: what is attached to tickets gets unpacked in shared places. */
const FILE_MODE = 0o100640;

/**
 * A ZIP archive that is written while it is read: a slow reader slows whoever adds, and nothing is collected. One file
 * after the other. All files have the same time.
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
    this.#output.on('error', () => {}); // told to whoever iterates, if anyone still does
  }

  /** The archive; ends after `end`, and fails with what `fail` was told. Iterate once. */
  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    // Not destroyed when its reader leaves: what is still compressing must be able to end.
    for await (const chunk of this.#output.iterator({ destroyOnReturn: false })) yield chunk as Uint8Array;
  }

  /**
   * Resolves when all of it has been taken. Chunks are copied, so that they may be lent ones. A failure of the chunks
   * ends the file where it is and is thrown here; the archive can go on.
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

  /** Nothing more is added: writes the directory of the archive. */
  end(): void {
    this.#zip.end();
  }

  /** Whoever reads it sees a failure, never an archive that looks whole. */
  fail(error: Error): void {
    this.#output.destroy(error);
  }

  /** Nobody reads it any more: what is being added ends, and all that is held is let go. */
  discard(): void {
    this.#isDiscarded = true;
    this.#output.resume();
  }
}
