import { readFd } from '../../file/fs-calls.ts';
import type { LogHandle } from '../../file/log-handle.ts';
import { type OpenedMember, unpack } from './family-files.ts';
import { READ_BYTES, type TailFile } from './tail-file.ts';

/** The text of a file of the family from `start` to its end, plain or unpacked. */
export async function* readMember(
  { handle, compressed }: Pick<OpenedMember, 'handle' | 'compressed'>,
  start: number,
): AsyncGenerator<Buffer, void, undefined> {
  if (compressed) yield* unpack(handle, start, Infinity);
  else yield* readPlain(handle, start);
}

async function* readPlain({ fd }: LogHandle, start: number): AsyncGenerator<Buffer, void, undefined> {
  let position = start;
  while (true) {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const got = await readFd(fd, buffer, { position, length: buffer.length });
    if (got > 0) yield got < READ_BYTES / 2 ? Buffer.from(buffer.subarray(0, got)) : buffer.subarray(0, got);
    if (got < buffer.length) return;
    position += got;
  }
}

/**
 * What a copy holds beyond the position in the file it was made of; nothing where the bytes before it differ, for then
 * it is a copy of something else.
 */
export async function* readBeyond(copy: OpenedMember, file: TailFile): AsyncGenerator<Buffer, void, undefined> {
  const { before } = file;
  let checked = 0;
  for await (const chunk of readMember(copy, file.position - before.length)) {
    const part = Math.min(before.length - checked, chunk.length);
    if (!chunk.subarray(0, part).equals(before.subarray(checked, checked + part))) return;
    checked += part;
    if (part < chunk.length) yield chunk.subarray(part);
  }
}
