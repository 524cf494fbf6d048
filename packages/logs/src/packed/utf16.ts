import { readSync } from 'node:fs';
import { TextDecoder } from 'node:util';
import { readFd } from '../fs-calls.ts';
import { truncated, unreadable } from '../log-error.ts';

/* UTF-16, as SQL Server and programs on Windows write logs. Everything here works on UTF-8, so it is transcoded. */

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
export async function readEncoding({ name, fd }: { name: string; fd: number }): Promise<Utf16 | undefined> {
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

/** Bytes of the file between two entries of the map: decoded to read any part of them. */
const SEGMENT_BYTES = 64 * 1024;

/** Where the text of a UTF-16 file is, in UTF-8. Plain data that threads share without copies. */
export interface Utf16Map {
  kind: 'utf-16';
  encoding: Utf16;
  /** Length of the text. */
  textBytes: number;
  problem: null;
  /** For each segment the offset in the file and in the text, as 64-bit floats; and one more for the end. */
  shared: SharedArrayBuffer;
}

/** Decodes a file once. Throws if reading fails, or an AbortError. */
export function buildUtf16Map(
  { fd, sizeBytes, encoding }: { fd: number; sizeBytes: number; encoding: Utf16 },
  { isCancelled = () => false }: { isCancelled?: () => boolean } = {},
): Utf16Map {
  const rows: number[] = [0, 0];
  const buffer = Buffer.allocUnsafe(SEGMENT_BYTES + 2);
  let textBytes = 0;
  for (let position = 0; position < sizeBytes; ) {
    if (isCancelled()) throw new DOMException('decoding was cancelled', 'AbortError');
    const got = readSync(fd, buffer, 0, Math.min(buffer.length, sizeBytes - position), position);
    const bytes = segmentBytes(buffer.subarray(0, got), encoding);
    // Half a character at the end is not text yet.
    if (bytes === 0) break;
    textBytes += decodeUtf16(buffer.subarray(0, bytes), encoding, { isStart: position === 0 }).length;
    position += bytes;
    rows.push(position, textBytes);
  }
  const shared = new SharedArrayBuffer(rows.length * Float64Array.BYTES_PER_ELEMENT);
  new Float64Array(shared).set(rows);
  return { kind: 'utf-16', encoding, textBytes, problem: null, shared };
}

/** How much of the bytes is a segment: it ends between characters. */
function segmentBytes(bytes: Buffer, encoding: Utf16): number {
  const whole = Math.min(bytes.length & ~1, SEGMENT_BYTES);
  if (whole < 2) return 0;
  const last = encoding === 'utf-16le' ? bytes.readUInt16LE(whole - 2) : bytes.readUInt16BE(whole - 2);
  const isHighSurrogate = last >= 0xd800 && last < 0xdc00;
  return isHighSurrogate ? whole - 2 : whole;
}

/** The text of a UTF-16 file in UTF-8, readable at any offset. The caller owns the descriptor. */
export class Utf16Text {
  readonly sizeBytes: number;
  readonly #fd: number;
  readonly #encoding: Utf16;
  readonly #rows: Float64Array;
  readonly #name: string;
  #last: { segment: number; text: Buffer } | undefined;

  constructor(fd: number, { textBytes, encoding, shared }: Utf16Map, { name }: { name: string }) {
    this.sizeBytes = textBytes;
    this.#fd = fd;
    this.#encoding = encoding;
    this.#rows = new Float64Array(shared);
    this.#name = name;
  }

  /**
   * Copies text `[position, position + length)` to `target` at `at`. Returns the number of bytes, fewer only at the end
   * of the text.
   */
  read(target: Buffer, at: number, position: number, length: number): number {
    const end = Math.min(position + Math.min(length, target.length - at), this.sizeBytes);
    for (let offset = position; offset < end; ) {
      const segment = this.#segmentAt(offset);
      const from = offset - this.#row(segment, 1);
      offset += this.#decode(segment).copy(target, at + offset - position, from, from + end - offset);
    }
    return Math.max(0, end - position);
  }

  #row(segment: number, column: 0 | 1): number {
    return this.#rows[2 * segment + column] ?? 0;
  }

  #segmentAt(offset: number): number {
    let low = 0;
    let high = this.#rows.length / 2 - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#row(middle, 1) <= offset) low = middle;
      else high = middle;
    }
    return low;
  }

  #decode(segment: number): Buffer {
    if (this.#last?.segment !== segment) {
      const from = this.#row(segment, 0);
      const bytes = Buffer.allocUnsafe(this.#row(segment + 1, 0) - from);
      let got = -1;
      for (let filled = 0; filled < bytes.length && got !== 0; filled += got) {
        got = readSync(this.#fd, bytes, filled, bytes.length - filled, from + filled);
      }
      const text = decodeUtf16(bytes, this.#encoding, { isStart: segment === 0 });
      // The map was built from the same bytes.
      if (got === 0 || text.length !== this.#row(segment + 1, 1) - this.#row(segment, 1)) throw truncated(this.#name);
      this.#last = { segment, text };
    }
    return this.#last.text;
  }
}
