import type { BlockCheck } from '../block-index/block-index.ts';
import type { ScanKernel } from '../kernel/scan-kernel.ts';
import type { BlockScanner } from '../scan/block/block-scanner.ts';
import { BLOCK_BYTES, headScanBytes } from '../scan/block/blocks.ts';
import type { ScanFile } from '../scan/jobs.ts';

const NEWLINE = 10;

/**
 * The checksum of all bytes of which the text of the block's records is made, wherever the last of them ends, and of
 * those that decide where it does: the head behind it, or the next block if it has none. `undefined` if these are not
 * complete yet.
 */
export function checkRecords(
  { scanner, kernel, file }: { scanner: BlockScanner; kernel: ScanKernel; file: ScanFile },
  recordsEnd: number,
): BlockCheck | undefined {
  const { blockEnd } = scanner;
  if (scanner.toOffset(recordsEnd) >= file.textBytes) return undefined;
  const isHead = scanner.headAt(recordsEnd) !== undefined;
  // The next block is split, or a hole: all of it was examined.
  const decidedAt = isHead ? recordsEnd : Math.max(recordsEnd, blockEnd + BLOCK_BYTES);
  const mostEnd = decidedAt + headScanBytes(file.format);
  scanner.loadUpTo(scanner.toOffset(mostEnd));
  const newline = scanner.bytes.indexOf(NEWLINE, isHead ? decidedAt : decidedAt - 1);
  const bytes = newline < 0 ? mostEnd : Math.min(newline + 1, mostEnd);
  if (bytes > scanner.bytes.length) return undefined;
  return { bytes, hash: kernel.checksum(0, bytes), scrubbed: true };
}
