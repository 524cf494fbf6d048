import { createHash } from 'node:crypto';
import { type FileMark, HEAD_BYTES } from './cursor.ts';

/** The mark of a file whose text starts with these bytes. A shorter file is identified by what it has. */
export function markFile(head: Uint8Array): FileMark {
  const bytes = head.subarray(0, HEAD_BYTES);
  return { headBytes: bytes.length, headHash: createHash('sha256').update(bytes).digest('hex').slice(0, 16) };
}

/** Whether the file whose text starts with `head` is the marked one. */
export function isMarked(mark: FileMark, head: Uint8Array): boolean {
  if (head.length < mark.headBytes) return false;
  return markFile(head.subarray(0, mark.headBytes)).headHash === mark.headHash;
}
