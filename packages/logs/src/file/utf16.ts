/* UTF-16, as SQL Server and programs on Windows write logs. Everything here works on UTF-8, so it is transcoded. */

import { TextDecoder } from 'node:util';
import { unreadable } from '../log-error.ts';
import { readFd } from './fs-calls.ts';
import type { LogHandle } from './handle-cache.ts';

export type Utf16 = 'utf-16le' | 'utf-16be';

/** Pairs of bytes that have to look like UTF-16 in a file without a byte order mark. */
const LEAST_PAIRS = 16;
const MOST_PAIRS = 128;

/**
 * The encoding of a file that starts like this; `undefined` if it is not UTF-16. Without a byte order mark only ASCII
 * text, low bytes first, is recognised: 16 characters in a row are no coincidence, and other NULs are holes.
 */
export function detectUtf16(start: Uint8Array): Utf16 | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  if (start[1] !== 0 || start.length < 2 * LEAST_PAIRS) return undefined;
  const end = Math.min(start.length & ~1, 2 * MOST_PAIRS);
  for (let at = 0; at < end; at += 2) if (start[at + 1] !== 0 || !isAsciiText(start[at] ?? 0)) return undefined;
  return 'utf-16le';
}

/** The encoding of a plain file, if it is UTF-16. */
export async function readEncoding({ name, fd }: Pick<LogHandle, 'name' | 'fd'>): Promise<Utf16 | undefined> {
  const start = Buffer.alloc(2 * MOST_PAIRS);
  try {
    return detectUtf16(start.subarray(0, await readFd(fd, start, { position: 0, length: start.length })));
  } catch (error) {
    throw unreadable(name, error);
  }
}

function isAsciiText(byte: number): boolean {
  return (byte >= 32 && byte < 127) || byte === 9 || byte === 10 || byte === 13;
}

/** Transcodes a text that arrives in pieces; its byte order mark is dropped, unpaired surrogates become U+FFFD. */
export class Utf16Decoder {
  readonly #decoder: TextDecoder;

  /** `isStart`: the first piece is the start of the file, where a byte order mark may be. */
  constructor(encoding: Utf16, { isStart = true } = {}) {
    this.#decoder = new TextDecoder(encoding, { ignoreBOM: !isStart });
  }

  /** The end of a piece may be kept until the next one: half a character. */
  write(bytes: Uint8Array): Buffer {
    return Buffer.from(this.#decoder.decode(bytes, { stream: true }));
  }
}

/** Transcodes a part of a text that starts and ends between characters. */
export function decodeUtf16(bytes: Uint8Array, encoding: Utf16, options?: { isStart: boolean }): Buffer {
  return new Utf16Decoder(encoding, options).write(bytes);
}

/** Transcodes chunks if they are UTF-16, which the first of them shows. */
export async function* decodeAnyUtf16(
  chunks: AsyncIterable<Buffer>,
  encoding?: Utf16,
): AsyncGenerator<Buffer, void, undefined> {
  let decoder = encoding && new Utf16Decoder(encoding);
  let isFirst = true;
  for await (const chunk of chunks) {
    const found = isFirst && !decoder ? detectUtf16(chunk) : undefined;
    if (found) decoder = new Utf16Decoder(found);
    isFirst = false;
    const text = decoder ? decoder.write(chunk) : chunk;
    if (text.length > 0) yield text;
  }
}
