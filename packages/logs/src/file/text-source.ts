import { truncated } from '../log-error.ts';
import type { ReadOptions } from '../types.ts';
import { isPackedName, refuseUndecoded } from './compression.ts';
import { type RangeSource, readRange } from './read-range.ts';
import { measurePacked, unpackRange } from './unpack.ts';

/** The uncompressed text of a file, addressed by byte offset. */
export interface TextSource {
  sizeBytes: number;
  read(start: number, end: number, options?: ReadOptions): AsyncGenerator<Buffer, void, undefined>;
}

/**
 * A plain file is its own text. A compressed file is decompressed once to measure its text; one of a compression that is
 * not read is refused.
 */
export async function openText(file: RangeSource, size: number, options: ReadOptions): Promise<TextSource> {
  const { handle } = file;
  refuseUndecoded(handle);
  if (!isPackedName(handle.name) || handle.sizeBytes === 0) {
    return { sizeBytes: handle.sizeBytes, read: (start, end, readOptions) => readRange(file, start, end, readOptions) };
  }
  const { sizeBytes, ending } = await measurePacked(file, { signal: options.signal, keepBytes: size + 1 });
  const endingStart = sizeBytes - ending.length;
  return {
    sizeBytes,
    read: (start, end, readOptions) =>
      start >= endingStart
        ? oneChunk(ending.subarray(start - endingStart, end - endingStart))
        : exactly(unpackRange(file, start, end, readOptions), end - start, handle.name),
  };
}

/**
 * Fails unless the second decompression has the length of the first one: the file may have been overwritten in between.
 */
async function* exactly(
  chunks: AsyncGenerator<Buffer, void, undefined>,
  sizeBytes: number,
  name: string,
): AsyncGenerator<Buffer, void, undefined> {
  let left = sizeBytes;
  for await (const chunk of chunks) {
    left -= chunk.length;
    yield chunk;
  }
  if (left > 0) throw truncated(name);
}

async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  if (bytes.length > 0) yield bytes;
}
