import { crc32 } from 'node:zlib';
import { findDecoder, plainName } from '../../file/compression.ts';
import { fileStamp, isSettled } from '../../file/file-stamp.ts';
import { SharedReads } from '../../file/shared-reads.ts';
import { isCut, unpack } from '../../file/unpack.ts';
import { readFd } from '../../fs-calls.ts';
import { LogError } from '../../log-error.ts';
import type { ReadOptions } from '../../types.ts';
import type { OpenFile } from './open-file.ts';

/**
 * Two plain files are compared completely up to this size, which takes less than a tenth of a second; larger ones by
 * samples.
 */
const MAX_COMPARED_BYTES = 64 * 1024 ** 2;

/** Number of samples of larger files, evenly spaced over the whole length, both ends included. */
const SAMPLES = 256;
const SAMPLE_BYTES = 4096;

const CHUNK_BYTES = 256 * 1024;

/**
 * A text without times may well be the same in two runs of a program, and all lines of a day begin with its date: with
 * this much in common it is no coincidence any more.
 */
const LEAST_COMMON_BYTES = 16 * 1024;

/** Pairs of unchanged files whose result is cached. */
const MAX_REMEMBERED = 1024;

/** Determines which files have the same text; caches it for unchanged files. */
export class CopyFinder {
  readonly #known = new Map<string, 'a' | 'b' | 'neither'>();

  /**
   * Which of two files contains all of the text of the other, as it does while one is being copied or compressed;
   * `undefined` if neither is known to. When in doubt they are two: a line temporarily returned twice does less harm
   * than one that is not returned at all.
   */
  async findLonger(a: OpenFile, b: OpenFile, options: ReadOptions): Promise<OpenFile | undefined> {
    if (a.handle.dev === b.handle.dev && a.handle.ino === b.handle.ino) return a;
    if (!haveSameStart(a, b)) return undefined;
    const key = `${a.name}/${b.name}/${fileStamp(a.handle)}/${fileStamp(b.handle)}`;
    const isLasting = isSettled(a.handle) && isSettled(b.handle);
    const known = isLasting ? this.#known.get(key) : undefined;
    if (known) return known === 'neither' ? undefined : known === 'a' ? a : b;
    const longer = await compare(a, b, options);
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    if (isLasting) this.#known.set(key, longer === undefined ? 'neither' : longer === a ? 'a' : 'b');
    return longer;
  }
}

async function compare(a: OpenFile, b: OpenFile, options: ReadOptions): Promise<OpenFile | undefined> {
  if (a.compressed && b.compressed) return compareArchives(a, b, options);
  if (a.compressed) return comparePacked(b, a, options);
  if (b.compressed) return comparePacked(a, b, options);
  return comparePlain(a, b, options);
}

/** Whether the first bytes are the same, as far as both have any. */
function haveSameStart(a: OpenFile, b: OpenFile): boolean {
  if (a.mark.headBytes === b.mark.headBytes) return a.mark.headHash === b.mark.headHash;
  const length = Math.min(a.head.length, b.head.length);
  return a.head.subarray(0, length).equals(b.head.subarray(0, length));
}

/** The longer one, or the first of two equally long. */
async function comparePlain(a: OpenFile, b: OpenFile, options: ReadOptions): Promise<OpenFile | undefined> {
  const shared = Math.min(a.handle.sizeBytes, b.handle.sizeBytes);
  if (a.firstMs === null && shared < LEAST_COMMON_BYTES) return undefined;
  const step = shared <= MAX_COMPARED_BYTES ? CHUNK_BYTES : (shared - SAMPLE_BYTES) / (SAMPLES - 1);
  const length = shared <= MAX_COMPARED_BYTES ? CHUNK_BYTES : SAMPLE_BYTES;
  for (let at = 0; at < shared; at += step) {
    options.signal?.throwIfAborted();
    const part = { position: Math.floor(at), length: Math.min(length, shared - Math.floor(at)) };
    const [first, second] = await Promise.all([readPart(a, part), readPart(b, part)]);
    if (first.length < part.length || !first.equals(second)) return undefined;
  }
  return a.handle.sizeBytes >= b.handle.sizeBytes ? a : b;
}

/**
 * Compares a plain text and an archive. A complete archive of gzip ends with the length and the checksum of its text; for one
 * that is still being written, or contains more than the plain file, the text itself is compared.
 */
async function comparePacked(plain: OpenFile, packed: OpenFile, options: ReadOptions): Promise<OpenFile | undefined> {
  const isNamedAlike = plainName(packed.name) === plain.name;
  if (plain.firstMs === null && plain.handle.sizeBytes < LEAST_COMMON_BYTES && !isNamedAlike) return undefined;
  if (findDecoder(packed.name) !== undefined) return compareUnpacked(plain, packed, { ...options, isNamedAlike });
  const { sizeBytes } = packed.handle;
  const trailer = await readPart(packed, { position: Math.max(0, sizeBytes - 8), length: Math.min(8, sizeBytes) });
  const textBytes = trailer.length === 8 ? trailer.readUInt32LE(4) : 0;
  // A live file grows while it is being compressed; while an archive is being written, its end means nothing.
  const isPlausible = isNamedAlike ? textBytes === plain.handle.sizeBytes : textBytes <= plain.handle.sizeBytes;
  if (textBytes > 0 && isPlausible) {
    if ((await fileChecksum(plain, textBytes, options)) === trailer.readUInt32LE(0)) return plain;
  }
  return compareUnpacked(plain, packed, { ...options, isNamedAlike });
}

async function fileChecksum(file: OpenFile, endBytes: number, { signal }: ReadOptions): Promise<number | undefined> {
  let sum = 0;
  for (let position = 0; position < endBytes; position += CHUNK_BYTES) {
    signal?.throwIfAborted();
    const length = Math.min(CHUNK_BYTES, endBytes - position);
    const bytes = await readPart(file, { position, length });
    if (bytes.length < length) return undefined;
    sum = crc32(bytes, sum);
  }
  return sum;
}

async function compareUnpacked(
  plain: OpenFile,
  packed: OpenFile,
  { signal, isNamedAlike }: ReadOptions & { isNamedAlike: boolean },
): Promise<OpenFile | undefined> {
  const shared = plain.handle.sizeBytes;
  let position = 0;
  try {
    for await (const chunk of unpack({ handle: packed.handle, reads: new SharedReads() }, { signal })) {
      const length = Math.min(chunk.length, shared - position);
      const bytes = await readPart(plain, { position, length });
      if (!bytes.equals(chunk.subarray(0, length))) return undefined;
      // The archive contains the whole plain file, and more.
      if (chunk.length > length) return packed;
      position += length;
      // So far it is the beginning of the plain text, whose archive it is by its name.
      if (position >= MAX_COMPARED_BYTES) return isNamedAlike ? plain : undefined;
    }
    return position > 0 || isNamedAlike ? plain : undefined;
  } catch (error) {
    if (!(error instanceof LogError) || error.code !== 'LOG_FILE_CORRUPT') throw error;
    // Incomplete, as it is while being written: what exists of it is the beginning of the plain text. Damage is
    // reported.
    return isCut(error) && (isNamedAlike || position >= LEAST_COMMON_BYTES) ? plain : undefined;
  }
}

/** Two archives of one file, as there are while it is compressed anew: the text is compared. Of long ones both are read. */
async function compareArchives(a: OpenFile, b: OpenFile, options: ReadOptions): Promise<OpenFile | undefined> {
  if (plainName(a.name) !== plainName(b.name)) return undefined;
  const [one, two] = [new UnpackedText(a, options), new UnpackedText(b, options)];
  try {
    for (let compared = 0; compared < MAX_COMPARED_BYTES; ) {
      const [left, right] = [await one.peek(), await two.peek()];
      const length = Math.min(left.length, right.length);
      if (length === 0 && compared === 0) return undefined;
      if (length === 0) return right.length > 0 ? b : a;
      if (!left.subarray(0, length).equals(right.subarray(0, length))) return undefined;
      one.skip(length);
      two.skip(length);
      compared += length;
    }
    return undefined;
  } catch (error) {
    // Damage is reported when it is read.
    if (error instanceof LogError && error.code === 'LOG_FILE_CORRUPT') return undefined;
    throw error;
  } finally {
    await one.close();
    await two.close();
  }
}

/** The text of an archive from its start, piece by piece. One that is incomplete ends early. */
class UnpackedText {
  readonly #pieces: AsyncGenerator<Buffer, void, undefined>;
  #piece: Buffer = Buffer.alloc(0);

  constructor({ handle }: OpenFile, { signal }: ReadOptions) {
    this.#pieces = unpack({ handle, reads: new SharedReads() }, { signal });
  }

  /** What comes next; empty at the end. */
  async peek(): Promise<Buffer> {
    while (this.#piece.length === 0) {
      const next = await this.#pieces.next().catch((error: unknown) => {
        if (error instanceof LogError && isCut(error)) return { done: true, value: undefined } as const;
        throw error;
      });
      if (next.done) break;
      this.#piece = next.value;
    }
    return this.#piece;
  }

  skip(bytes: number): void {
    this.#piece = this.#piece.subarray(bytes);
  }

  async close(): Promise<void> {
    await this.#pieces.return();
  }
}

async function readPart(
  { handle: { fd } }: OpenFile,
  { position, length }: { position: number; length: number },
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, await readFd(fd, buffer, { position, length }));
}
