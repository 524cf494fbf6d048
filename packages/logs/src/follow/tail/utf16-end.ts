import { readFd } from '../../file/fs-calls.ts';
import type { LogHandle } from '../../file/handle-cache.ts';
import { type Utf16, Utf16Decoder } from '../../file/utf16.ts';

const READ_BYTES = 256 * 1024;

/** What is kept of the text before the position: more than a secret is long. */
const BEFORE_TEXT_BYTES = 64 * 1024;

const NEWLINE = 10;

/** The start of the last line of a UTF-16 file. */
export interface Utf16End {
  /** Offset in the file, and in its text in UTF-8. */
  position: number;
  textBytes: number;
  /** What continues there. */
  decoder: Utf16Decoder;
  /** The start of the text, its end before the position, and the bytes of the file before it. */
  sample: Buffer;
  before: Buffer;
  rawBefore: Buffer;
}

/** Reads all of the file, since offsets in its text are not those in the file. An incomplete last line is not skipped. */
export async function findUtf16End(
  { fd }: LogHandle,
  sizeBytes: number,
  { encoding, sampleBytes, beforeBytes }: { encoding: Utf16; sampleBytes: number; beforeBytes: number },
): Promise<Utf16End> {
  const position = await findLineStart(fd, sizeBytes, encoding);
  const decoder = new Utf16Decoder(encoding);
  const buffer = Buffer.alloc(READ_BYTES);
  let sample: Buffer = Buffer.alloc(0);
  let before: Buffer = Buffer.alloc(0);
  let rawBefore: Buffer = Buffer.alloc(0);
  let textBytes = 0;
  for (let at = 0; at < position; ) {
    const got = await readFd(fd, buffer, { position: at, length: Math.min(buffer.length, position - at) });
    if (got === 0) break;
    const raw = buffer.subarray(0, got);
    const text = decoder.write(raw);
    if (sample.length < sampleBytes) sample = Buffer.concat([sample, text]).subarray(0, sampleBytes);
    before = Buffer.concat([before, text]).subarray(-BEFORE_TEXT_BYTES);
    rawBefore = Buffer.concat([rawBefore, raw]).subarray(-beforeBytes);
    textBytes += text.length;
    at += got;
  }
  return { position, textBytes, decoder, sample, before, rawBefore };
}

/** The offset behind the last newline; the end of the file if there is none nearby. */
async function findLineStart(fd: number, sizeBytes: number, encoding: Utf16): Promise<number> {
  const end = sizeBytes - (sizeBytes % 2);
  const buffer = Buffer.alloc(Math.min(READ_BYTES, end));
  const from = end - buffer.length;
  const got = await readFd(fd, buffer, { position: from, length: buffer.length });
  for (let at = got - (got % 2) - 2; at >= 0; at -= 2) {
    const unit = encoding === 'utf-16le' ? buffer.readUInt16LE(at) : buffer.readUInt16BE(at);
    if (unit === NEWLINE) return from + at + 2;
  }
  return from === 0 ? 0 : end;
}
