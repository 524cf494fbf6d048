import { pipeline } from 'node:stream/promises';
import { types } from 'node:util';
import { createGunzip } from 'node:zlib';
import { LogError, systemCode, truncated } from '../log-error.ts';
import { DecodeFault } from '../packed/packed-input.ts';
import { scrubRange } from '../scrub/scrub-feed.ts';
import { unneeded } from '../shared.ts';
import type { ReadOptions } from '../types.ts';
import { findDecoder, isPackedName, refuseUndecoded } from './compression.ts';
import { countNuls, type RangeSource, readRange } from './read-range.ts';

/**
 * Bytes at the end of the text that are buffered while measuring, so that a typical tail needs one pass instead of two.
 */
const MAX_BUFFERED_BYTES = 1024 * 1024 + 1;

interface MeasuredText {
  sizeBytes: number;
  /** The last bytes of the text: as many as requested and allowed, or all. */
  ending: Buffer;
}

/** Decompresses the whole file with bounded memory to measure its text, and returns the end of it. */
export async function measurePacked(
  file: RangeSource,
  { signal, keepBytes }: ReadOptions & { keepBytes: number },
): Promise<MeasuredText> {
  const wanted = Math.min(keepBytes, MAX_BUFFERED_BYTES);
  const { scrubber } = file.reads;
  // The bytes before it may be the beginning of a secret.
  const most = wanted + (scrubber?.leftBytes ?? 0);
  let sizeBytes = 0;
  let bufferedBytes = 0;
  const buffered: Buffer[] = [];
  for await (const chunk of unpack(file, { signal })) {
    sizeBytes += chunk.length;
    bufferedBytes += chunk.length;
    buffered.push(chunk);
    while (bufferedBytes - (buffered[0]?.length ?? 0) >= most) bufferedBytes -= buffered.shift()?.length ?? 0;
  }
  // A request larger than the buffer limit is served by a second pass; nothing is buffered for it.
  if (keepBytes > MAX_BUFFERED_BYTES && sizeBytes > MAX_BUFFERED_BYTES) return { sizeBytes, ending: Buffer.alloc(0) };
  const ending = Buffer.concat(buffered);
  scrubber?.mask(ending, { atEnd: true });
  return { sizeBytes, ending: ending.subarray(-wanted) };
}

/**
 * The part `[start, end)` of the uncompressed text, or what exists of it; everything before it is decompressed and
 * skipped. Secrets are masked.
 */
export function unpackRange(
  file: RangeSource,
  start: number,
  end: number,
  options: ReadOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  const read = (from: number, to: number) => unpackedRange(file, from, to, options);
  return scrubRange(read, start, end, file.reads.scrubber);
}

/**
 * The first bytes of the uncompressed text after any leading NULs, and their offset; for a damaged file, what can be
 * decompressed.
 */
export async function packedHead(
  file: RangeSource,
  most: number,
  options: ReadOptions = {},
): Promise<{ head: Buffer; start: number }> {
  let head: Buffer = Buffer.alloc(0);
  let start = 0;
  try {
    for await (const chunk of unpackRange(file, 0, Infinity, options)) {
      const nuls = head.length === 0 ? countNuls(chunk) : 0;
      start += nuls;
      head = Buffer.concat([head, chunk.subarray(nuls, nuls + most - head.length)]);
      if (head.length >= most) break;
    }
  } catch (error) {
    if (!(error instanceof LogError) || error.code !== 'LOG_FILE_CORRUPT') throw error;
  }
  return { head, start };
}

async function* unpackedRange(
  file: RangeSource,
  start: number,
  end: number,
  options: ReadOptions,
): AsyncGenerator<Buffer, void, undefined> {
  let position = 0;
  for await (const chunk of unpack(file, options)) {
    const from = Math.max(start - position, 0);
    const to = Math.min(end - position, chunk.length);
    if (from < to) yield chunk.subarray(from, to);
    position += chunk.length;
    if (position >= end) return;
  }
}

interface UnpackOptions extends ReadOptions {
  /** Receives the number of compressed bytes consumed. */
  onEnd?: (packedBytes: number) => void;
}

/** The whole text of a compressed file, secrets not masked. */
export async function* unpack(file: RangeSource, options: UnpackOptions): AsyncGenerator<Buffer, void, undefined> {
  const decoder = findDecoder(file.handle.name);
  if (decoder === undefined) return yield* gunzip(file, options);
  const { signal, onEnd } = options;
  // Loaded when needed: most logs are plain or gzip.
  const { decodeChunks } = await import('../packed/decoders.ts');
  try {
    const chunks = readRange(file, 0, file.handle.sizeBytes, { signal, packed: true });
    for await (const chunk of decodeChunks(decoder, chunks, onEnd)) {
      // A few bytes on disk can be a lot of text: the reading side alone would notice an abort too late.
      signal?.throwIfAborted();
      yield chunk;
    }
  } catch (error) {
    throw error instanceof DecodeFault ? asLogError(error, file.handle.name) : error;
  }
}

function asLogError(fault: DecodeFault, name: string): LogError {
  const [code, what] =
    fault.kind === 'unsupported'
      ? (['LOG_FILE_UNSUPPORTED', 'cannot be decompressed'] as const)
      : ([
          'LOG_FILE_CORRUPT',
          fault.kind === 'cut' ? 'is truncated' : `is not valid ${findDecoder(name)} data`,
        ] as const);
  const message = `${JSON.stringify(name)} ${what}: ${fault.message}; download it raw to get its bytes unchanged`;
  return new LogError(code, message, { cause: fault });
}

/** Whether a compressed file could not be read because its end is missing, as it is while it is being written. */
export function isCut({ cause }: LogError): boolean {
  return cause instanceof DecodeFault ? cause.kind === 'cut' : systemCode(cause) === 'Z_BUF_ERROR';
}

/** Output of one inflate step; fewer steps mean fewer trips through the event loop. */
const INFLATE_BYTES = 128 * 1024;

/** The whole text, secrets not masked. `onEnd` receives the number of compressed bytes consumed. */
async function* gunzip(
  file: RangeSource,
  { signal, onEnd }: ReadOptions & { onEnd?: (packedBytes: number) => void },
): AsyncGenerator<Buffer, void, undefined> {
  const inflater = createGunzip({ chunkSize: INFLATE_BYTES });
  // Failures of either side surface while iterating the inflater.
  const feeding = unneeded(pipeline(copies(file, signal), inflater));
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
