import type { RangeSource } from '../file/read-range.ts';
import { openText, type TextSource } from '../file/text-source.ts';
import type { ByteStream, ReadOptions } from '../types.ts';

const NEWLINE = 10;

/**
 * The last `size` bytes of a file's text, starting with the first whole line. A window without any line start is
 * returned as is, from a UTF-8 boundary: a file with content never gives an empty response.
 */
export async function tail(
  file: RangeSource,
  size: number,
  { text: opened, ...options }: ReadOptions & { text?: TextSource } = {},
): Promise<ByteStream> {
  try {
    const text = opened ?? (await openText(file, size, options));
    return toByteStream(file, await cutWindow(text, size, options));
  } catch (error) {
    file.handle.release();
    throw error;
  }
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
