import type { Scrubber } from '../scrub/scrubber.ts';
import { readFd } from './fs-calls.ts';

/**
 * The first bytes of a plain file, with secrets masked. Where the file ends with what may become a secret, that is left
 * out: files are told apart by these bytes, and they must not be others when the file has grown.
 */
export async function readStart(fd: number, most: number, scrubber: Scrubber | undefined): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(most + (scrubber?.rightBytes ?? 0));
  const bytes = buffer.subarray(0, await readFd(fd, buffer, { position: 0, length: buffer.length }));
  return maskStart(bytes, most, scrubber);
}

/** The same of bytes that were read: more than `most`, unless the file ends with them. */
export function maskStart(bytes: Buffer, most: number, scrubber: Scrubber | undefined): Buffer {
  const isAll = bytes.length < most + (scrubber?.rightBytes ?? 0);
  const open = isAll ? (scrubber?.openBytes(bytes) ?? 0) : 0;
  scrubber?.mask(bytes);
  return bytes.subarray(0, Math.min(most, bytes.length - open));
}
