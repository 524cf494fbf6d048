import { isCompressedName } from '../file/compression.ts';
import { isSettledForWriters } from '../file/file-stamp.ts';
import type { LogHandle } from '../file/handle-cache.ts';
import { type RangeSource, readChunk, readRange } from '../file/read-range.ts';
import { CROWDED_CHUNK_BYTES, OneChunk } from '../file/shared-reads.ts';
import { openText, type TextSource } from '../file/unpack.ts';
import { truncated, unreadable } from '../log-error.ts';
import { fileSource } from '../query/log-sources.ts';
import type { ByteStream, OpenLog, ReadOptions, SearchItem, SearchQuery } from '../types.ts';

const NEWLINE = 10;

/**
 * The last `size` bytes of a file's text, starting with the first whole line. A window without any line start is
 * returned as is, from a UTF-8 boundary: a file with content never gives an empty response.
 */
export async function tail(
  file: RangeSource,
  size: number,
  options: ReadOptions & { text?: TextSource } = {},
): Promise<ByteStream> {
  try {
    const short = options.text ? undefined : await readShort(file, size);
    if (short) return short;
    const text = options.text ?? (await openText(file, size, options));
    return toByteStream(file, await cutWindow(text, size, options));
  } catch (error) {
    file.handle.release();
    throw error;
  }
}

/**
 * A window that fits into any chunk, read at once. `undefined` if it does not, if the text is not that of the file, or
 * if the window has no line start but its own.
 */
async function readShort(file: RangeSource, size: number): Promise<ByteStream | undefined> {
  const { handle, reads } = file;
  const end = handle.sizeBytes;
  // One byte more than the window, as below.
  const first = Math.max(0, end - size - 1);
  const hasWhole = end <= size;
  if (end === 0 || end - first > CROWDED_CHUNK_BYTES || isCompressedName(handle.name)) return undefined;
  const key = { handle, size, scrubberId: reads.scrubber?.id };
  const kept = reads.tails.find(key);
  if (kept) return toShortStream(kept, () => handle.release());
  const isAtRest = isSettledForWriters(handle);
  const chunk = await readChunk(file, first, end);
  if (chunk.short) {
    chunk.release();
    throw truncated(handle.name);
  }
  const start = hasWhole ? 0 : chunk.bytes.indexOf(NEWLINE) + 1;
  const isWindow = hasWhole || (start > 0 && start < chunk.bytes.length);
  // Secrets are masked with a margin, which may leave less room for the window.
  if (!isWindow || first + chunk.bytes.length < end) {
    chunk.release();
    return undefined;
  }
  const bytes = chunk.bytes.subarray(start);
  try {
    if (isAtRest) await reads.tails.keep(key, bytes);
  } catch (error) {
    chunk.release();
    throw unreadable(handle.name, error);
  }
  return toShortStream(bytes, () => {
    chunk.release();
    handle.release();
  });
}

function toShortStream(bytes: Uint8Array, release: () => void): ByteStream {
  let isOpen = true;
  return {
    sizeBytes: bytes.length,
    chunks: new OneChunk(bytes),
    async close() {
      if (isOpen) release();
      isOpen = false;
    },
  };
}

interface Window {
  sizeBytes: number;
  chunks: AsyncGenerator<Buffer, void, undefined>;
  /** The underlying reader of `chunks`, if started: it must be ended separately if `chunks` is never iterated. */
  begun?: AsyncGenerator<Buffer, void, undefined>;
}

async function cutWindow(text: TextSource, size: number, options: ReadOptions): Promise<Window> {
  const end = text.sizeBytes;
  const from = Math.max(0, end - size);
  if (from === 0) return { sizeBytes: end, chunks: text.read(0, end, options) };

  // One byte more than the window: if it is a newline, the window starts with a whole line.
  const chunks = text.read(from - 1, end, options);
  let position = from - 1;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    const newline = next.value.indexOf(NEWLINE);
    const start = position + newline + 1;
    if (newline >= 0 && start < end) {
      return { sizeBytes: end - start, chunks: resume(next.value, newline + 1, chunks), begun: chunks };
    }
    if (newline >= 0) break; // the window's only newline is its last byte
    position += next.value.length;
  }
  await chunks.return();
  const start = await characterStart(text, from, options);
  return { sizeBytes: end - start, chunks: text.read(start, end, options) };
}

/** Continues a reader whose current chunk was only inspected. */
async function* resume(
  current: Buffer,
  skip: number,
  rest: AsyncGenerator<Buffer, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    if (skip < current.length) yield current.subarray(skip);
    yield* rest;
  } finally {
    await rest.return();
  }
}

/**
 * The first offset from `from` on where a UTF-8 character starts; `from` itself if the bytes are not UTF-8 or nothing
 * would be left.
 */
async function characterStart(text: TextSource, from: number, options: ReadOptions): Promise<number> {
  const end = Math.min(from + 4, text.sizeBytes);
  const head: number[] = [];
  for await (const chunk of text.read(from, end, options)) head.push(...chunk);
  const skip = head.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return skip > 0 ? from + skip : from;
}

function toByteStream({ handle }: RangeSource, { sizeBytes, chunks, begun }: Window): ByteStream {
  return {
    sizeBytes,
    chunks,
    async close() {
      await chunks.return();
      await begun?.return();
      handle.release();
    },
  };
}

/**
 * The public view of an open file, or its text. Closing it first ends its readers: none may continue with a closed
 * descriptor.
 */
export function openLog({ handle, reads }: RangeSource, text?: TextSource): OpenLog {
  const sizeBytes = text?.sizeBytes ?? handle.sizeBytes;
  const read = text?.read ?? ((start, end, options) => readRange({ handle, reads }, start, end, options));
  const readings = new Set<AsyncGenerator<Buffer, void, undefined>>();
  let closed = false;
  return {
    name: handle.name,
    sizeBytes,
    modifiedMs: Number(handle.modifiedNs / 1_000_000n),
    etag: fileEtag(handle, `${text ? 'text' : ''}${reads.scrubber?.id ?? ''}`),
    read(start: number, end: number, options?: ReadOptions) {
      if (closed) throw new TypeError(`${JSON.stringify(handle.name)} is closed`);
      const reading = read(Math.max(0, start), Math.min(end, sizeBytes), options);
      readings.add(reading);
      return reading;
    },
    async close() {
      closed = true;
      await Promise.all(Array.from(readings, (reading) => reading.return()));
      handle.release();
    },
  };
}

/**
 * With different secrets masked the response is different, and so is the uncompressed text. Clients read the
 * modification time from the third part, so everything else is in the fourth.
 */
function fileEtag({ ino, sizeBytes, modifiedNs, changedNs }: LogHandle, variant: string): string {
  const parts = [ino, sizeBytes, modifiedNs, changedNs].map((part) => part.toString(36));
  return `"${parts.join('-')}${variant}"`;
}

/** Records at the end of a file examined for a timestamp. */
const LAST_RECORDS = 100;

/** The time of the newest record of a file that has one. */
export async function readLastTime(
  search: (query: SearchQuery) => AsyncIterable<SearchItem[]>,
  file: string,
): Promise<number | null> {
  const src = [fileSource(file)];
  for await (const items of search({ src, order: 'newest', limit: LAST_RECORDS, before: 0, after: 0 })) {
    for (const item of items) if (item.type === 'record' && item.timeMs !== undefined) return item.timeMs;
  }
  return null;
}
