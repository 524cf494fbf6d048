import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { deflate } from './deflate.ts';

/** No access for others: bundles are attached to tickets and unpacked in shared places. */
const FILE_MODE = 0o100640;

/** Readers without ZIP64 count entries with 16 bits, the last value of which means that there are more. */
const MAX_ENTRIES = 0xfffe;

const [ENTRY, DESCRIPTOR, DIRECTORY_ENTRY, DIRECTORY_END] = [0x04034b50, 0x08074b50, 0x02014b50, 0x06054b50];

/** What it takes to read the archive, version 2.0, and whose modes its files have: those of Unix. */
const [VERSION, MADE_BY] = [20, (3 << 8) | 20];

/** Names are UTF-8, and the lengths come behind the content. */
const FLAGS = 0x0808;
const DEFLATED = 8;

/** Names an extra field with the time in UTC; the time beside it is in the zone of whoever wrote it. */
const UTC_TIME = 0x5455;

/** A file of the archive, as its directory lists it. */
interface Entry {
  name: Buffer;
  /** Where it starts in the archive. */
  start: number;
  crc: number;
  packedBytes: number;
  bytes: number;
}

/**
 * A ZIP archive that is written while it is read: a slow reader slows down the writer, and little is buffered. Files are
 * added one after the other. All files have the same timestamp.
 */
export class ZipStream {
  readonly #seconds: number;
  readonly #dosTime: number;
  readonly #output = new PassThrough();
  readonly #entries: Entry[] = [];
  #writtenBytes = 0;
  #isDiscarded = false;
  #failure: Error | undefined;

  constructor(timeMs: number) {
    this.#seconds = Math.floor(timeMs / 1000);
    this.#dosTime = dosTime(new Date(timeMs));
  }

  /** The archive; ends after `end`, and throws the error given to `fail`. Iterate once. */
  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      // A reader that leaves calls `discard`, which ends the file being added before the stream.
      yield* this.#output.iterator({ destroyOnReturn: false });
    } catch (error) {
      throw this.#failure ?? error;
    }
  }

  /**
   * Resolves when the file was read. Chunks are copied, so their buffers may be reused. If the chunks fail, the file
   * ends there and the error is thrown; the archive can continue.
   */
  async add(name: string, chunks: AsyncIterable<Uint8Array>): Promise<{ bytes: number; sha256: string }> {
    if (this.#entries.length === MAX_ENTRIES) throw new Error(`an archive has at most ${MAX_ENTRIES} files`);
    const hash = createHash('sha256');
    const entry: Entry = { name: Buffer.from(name), start: this.#writtenBytes, crc: 0, packedBytes: 0, bytes: 0 };
    let failure: unknown;
    const keepFailure = (error: unknown) => {
      failure = error;
    };
    await this.#write(Buffer.concat([record(...longs(ENTRY), ...this.#facts(entry), ...shorts(0)), entry.name]));
    try {
      for await (const { packed, crc, bytes } of deflate(this.#untilLeft(chunks, keepFailure), hash)) {
        entry.crc = crc;
        entry.bytes = bytes;
        entry.packedBytes += packed.length;
        await this.#write(packed);
      }
    } catch (error) {
      // What was written of the file cannot be taken back.
      this.fail(error as Error);
      throw error;
    }
    await this.#write(record(...longs(DESCRIPTOR, entry.crc, entry.packedBytes, entry.bytes)));
    this.#entries.push(entry);
    if (failure !== undefined) throw failure;
    return { bytes: entry.bytes, sha256: hash.digest('hex') };
  }

  /** Finishes the archive by writing its directory. */
  end(): void {
    const start = this.#writtenBytes;
    const entries = Buffer.concat(this.#entries.map((entry) => this.#directoryEntry(entry)));
    const count = this.#entries.length;
    const counts = [...shorts(0, 0, count, count), ...longs(entries.length, start), ...shorts(0)];
    this.#output.end(Buffer.concat([entries, record(...longs(DIRECTORY_END), ...counts)]));
  }

  /** Makes the reader fail, so that it never gets an archive that looks complete. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#output.destroy();
  }

  /** The reader has left: ends the file being added; nothing waits for the reader any more. */
  discard(): void {
    this.#isDiscarded = true;
    this.#output.resume();
  }

  async *#untilLeft(
    chunks: AsyncIterable<Uint8Array>,
    onFailure: (error: unknown) => void,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of chunks) {
        if (this.#isDiscarded) return;
        yield chunk;
      }
    } catch (error) {
      onFailure(error);
    }
  }

  /** Resolves when the reader has room for more, or has gone. */
  async #write(bytes: Uint8Array): Promise<void> {
    this.#writtenBytes += bytes.length;
    const output = this.#output;
    if (output.destroyed || output.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const settle = () => {
        output.off('drain', settle).off('close', settle);
        resolve();
      };
      output.once('drain', settle).once('close', settle);
    });
  }

  /** What the directory repeats of the head of a file, where the lengths are not known yet. */
  #facts({ name, crc, packedBytes, bytes }: Entry): Field[] {
    return [
      ...shorts(VERSION, FLAGS, DEFLATED),
      ...longs(this.#dosTime, crc, packedBytes, bytes),
      ...shorts(name.length),
    ];
  }

  #directoryEntry(entry: Entry): Buffer {
    const time = record(...shorts(UTC_TIME, 5), [1, 1], ...longs(this.#seconds));
    // No comment, on the first disk, of no special kind.
    const place = [...shorts(time.length, 0, 0, 0), ...longs(FILE_MODE * 2 ** 16, entry.start)];
    const fields = [...longs(DIRECTORY_ENTRY), ...shorts(MADE_BY), ...this.#facts(entry), ...place];
    return Buffer.concat([record(...fields), entry.name, time]);
  }
}

/** A number and how many bytes it takes, the lowest first. */
type Field = readonly [value: number, bytes: number];

function shorts(...values: readonly number[]): Field[] {
  return values.map((value) => [value, 2]);
}

function longs(...values: readonly number[]): Field[] {
  return values.map((value) => [value, 4]);
}

function record(...fields: readonly Field[]): Buffer {
  const all = Buffer.alloc(fields.reduce((sum, [, bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [value, bytes] of fields) at = all.writeUIntLE(value, at, bytes);
  return all;
}

/** By the clock of this node, as in every archive. */
function dosTime(date: Date): number {
  const day = ((date.getFullYear() - 1980) << 9) | ((date.getMonth() + 1) << 5) | date.getDate();
  const time = (date.getHours() << 11) | (date.getMinutes() << 5) | (date.getSeconds() >> 1);
  return day * 2 ** 16 + time;
}
