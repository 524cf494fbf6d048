import { type CallOptions, PortholeError, type ViewRequest } from '@porthole/contract';
import { OneChunk, type Scrubbing, scrubTail } from '@porthole/logs';
import type { ByteStream } from '@porthole/logs/types';
import { fetchTail, LONGEST_LINE_BYTES, type TailNode } from './fetch-tail.ts';

const NEWLINE = 10;

/** Longer tails are passed on as they come: where a line ends the response, it is too late to ask for less. */
const MAX_HELD_BYTES = 8 * 1024 ** 2;

export interface ViewTailOptions extends CallOptions {
  /** As listed. */
  listedBytes: number;
  scrubbing: Scrubbing;
  /** Passes a long tail on, masked. */
  passOn(): Promise<ByteStream>;
}

/**
 * The end of a file as any node serves it: whole lines, up to the end of the file. LinDB drops the first line of what is
 * requested, so more is; and it stops before a very long line, so only what is behind that is returned. Throws if that is
 * nothing.
 */
export async function viewTail(
  node: TailNode,
  { file, sizeBytes }: ViewRequest,
  { listedBytes, scrubbing, passOn, ...options }: ViewTailOptions,
): Promise<ByteStream> {
  // The line before, of which there may be only a part, is the one that is dropped.
  const wantedBytes = sizeBytes + LONGEST_LINE_BYTES;
  if (Math.min(listedBytes, wantedBytes) > MAX_HELD_BYTES)
    return wholeOrFailed(await passOn(), { file, leastBytes: Math.min(listedBytes, sizeBytes) - LONGEST_LINE_BYTES });
  const { bytes, isCut } = await fetchTail(node, { file, size: listedBytes, wantedBytes, ...options });
  if (bytes.length === 0 && listedBytes > 0) throw notServed(file, isCut);
  const masked: Uint8Array[] = [];
  for await (const chunk of scrubTail(new OneChunk(bytes), scrubbing.current)) masked.push(chunk);
  const shown = cutLines(Buffer.concat(masked), sizeBytes);
  return { sizeBytes: shown.length, chunks: new OneChunk(shown), close: () => Promise.resolve() };
}

/** The last bytes of a text, from the first whole line; if there is none, from the first whole character. */
function cutLines(text: Buffer, sizeBytes: number): Buffer {
  const from = text.length - sizeBytes;
  if (from <= 0) return text;
  const start = text.indexOf(NEWLINE, from - 1) + 1;
  if (start > 0 && start < text.length) return text.subarray(start);
  const skip = text.subarray(from, from + 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return text.subarray(from + Math.max(0, skip));
}

/** A response that ends before the end of the file must not look complete. */
function wholeOrFailed(
  { chunks, close }: ByteStream,
  { file, leastBytes }: { file: string; leastBytes: number },
): ByteStream {
  async function* checked(): AsyncGenerator<Uint8Array, void, undefined> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk;
    }
    if (bytes < leastBytes) throw notServed(file, true);
  }
  return { sizeBytes: undefined, chunks: checked(), close };
}

function notServed(file: string, isCut: boolean): PortholeError {
  const what = isCut
    ? `does not serve lines of ${LONGEST_LINE_BYTES} bytes or more, nor the text behind them in a longer part`
    : 'never serves the first line of a file, and there is no other';
  return new PortholeError('LOG_FILE_UNREADABLE', `${file} cannot be read: the node ${what}`);
}
