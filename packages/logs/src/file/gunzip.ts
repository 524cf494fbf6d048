import { pipeline } from 'node:stream/promises';
import { types } from 'node:util';
import { createGunzip } from 'node:zlib';
import { LogError } from '../log-error.ts';
import type { ReadOptions } from '../types.ts';
import { type RangeSource, readRange } from './read-range.ts';

/** Output of one inflate step; fewer steps mean fewer trips through the event loop. */
const INFLATE_BYTES = 128 * 1024;

/** The whole text, secrets not masked. `onEnd` receives the number of compressed bytes consumed. */
export async function* gunzip(
  file: RangeSource,
  { signal, onEnd }: ReadOptions & { onEnd?: (packedBytes: number) => void },
): AsyncGenerator<Buffer, void, undefined> {
  const inflater = createGunzip({ chunkSize: INFLATE_BYTES });
  // Failures of either side surface while iterating the inflater.
  const feeding = pipeline(copies(file, signal), inflater).catch(() => {});
  try {
    for await (const chunk of inflater) {
      // A few bytes on disk can be a lot of text: the reading side alone would notice an abort too late.
      signal?.throwIfAborted();
      yield chunk as Buffer;
    }
    onEnd?.(inflater.bytesWritten);
  } catch (error) {
    throw asGzipError(error, file.handle.name);
  } finally {
    inflater.destroy();
    await feeding;
  }
}

/** The inflater holds on to its input, and our chunks are reused, so it gets copies. */
async function* copies(file: RangeSource, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of readRange(file, 0, file.handle.sizeBytes, { signal, packed: true })) {
    yield Buffer.from(chunk);
  }
}

/** Converts zlib errors of a damaged archive; other errors pass through. */
function asGzipError(thrown: unknown, name: string): unknown {
  const code = types.isNativeError(thrown) && 'code' in thrown ? String(thrown.code) : '';
  if (!code.startsWith('Z_')) return thrown;
  const what = code === 'Z_BUF_ERROR' ? 'is truncated' : 'is not valid gzip data';
  return new LogError(
    'LOG_FILE_CORRUPT',
    `${JSON.stringify(name)} ${what}; download it raw to get its bytes unchanged`,
    {
      cause: thrown,
    },
  );
}
