import { HEAD_BYTES } from '../../cursor/cursor.ts';
import { isMarked } from '../../cursor/file-mark.ts';
import type { SharedReads } from '../../file/shared-reads.ts';
import { unpack } from '../../file/unpack.ts';
import { LogError } from '../../log-error.ts';
import type { ReadOptions } from '../../types.ts';
import type { OpenFamily } from './open-family.ts';
import type { OpenFile } from './open-file.ts';

/** What identifies the files of a log, whatever their names. */
export interface FileHead {
  name: string;
  /** On disk. */
  sizeBytes: number;
  compressed: boolean;
  /** The first bytes of its text as they are in the file, at most 1 KiB: no secret is masked in them. */
  head: Buffer;
  /** Whether the cursor of a record, up to its offset, is one of this file. */
  isMarked(mark: { headHash: string; headBytes: number }): boolean;
}

/** The heads of the files of a family, oldest first; of a file that exists twice while it is copied, once. */
export async function readHeads({ files }: OpenFamily, reads: SharedReads, options: ReadOptions): Promise<FileHead[]> {
  const heads: FileHead[] = [];
  for (const file of files) {
    const { name, handle, compressed, firstBytes } = file;
    const head = compressed ? await packedStart(file, reads, options) : firstBytes;
    heads.push({ name, sizeBytes: handle.sizeBytes, compressed, head, isMarked: (mark) => isMarked(mark, file.head) });
  }
  return heads;
}

async function packedStart({ handle, textStart }: OpenFile, reads: SharedReads, options: ReadOptions): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  let skipped = 0;
  try {
    for await (const chunk of unpack({ handle, reads }, options)) {
      const from = Math.min(chunk.length, textStart - skipped);
      skipped += from;
      head = Buffer.concat([head, chunk.subarray(from, from + HEAD_BYTES - head.length)]);
      if (head.length >= HEAD_BYTES) break;
    }
  } catch (error) {
    // What precedes the damage is its head.
    if (!(error instanceof LogError) || error.code !== 'LOG_FILE_CORRUPT') throw error;
  }
  return head;
}
