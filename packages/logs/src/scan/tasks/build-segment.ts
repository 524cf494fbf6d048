import { GRAM_ROWS, type ScanKernel } from '../../kernel/scan-kernel.ts';
import { MAX_HEAD_BYTES } from '../../parse/format.ts';
import { BlockScanner } from '../block/block-scanner.ts';
import { BLOCK_BYTES, type BlockCheck, blockCount } from '../block/blocks.ts';
import { hasStamp, openFileText } from '../block/file-text.ts';
import type { ScanFile } from '../block/scan-file.ts';
import { SEGMENT_BLOCKS, type SegmentJob, type SegmentResult, type TextSegment } from '../index-jobs.ts';
import type { ScanTools } from '../match/scan-part.ts';

/** Columns that the kernel fills at a time. */
const BYTE_BITS = 8;

/**
 * Fills a segment with the grams of the records that start in its blocks. Made of masked text: a text that occurs only
 * in secrets is as absent from it as any other.
 */
export function buildSegment(job: SegmentJob, tools: ScanTools): SegmentResult {
  const startedMs = performance.now();
  const isKnown = job.known !== undefined && holds(job, job.known, tools);
  const segment = isKnown ? null : fillSegment(job, tools);
  // What was read while the file changed proves nothing of it, but of one that grows.
  const isTrue = !tools.isCancelled() && (job.endBlock !== undefined || hasStamp(job.file));
  const blocks = (isKnown ? job.known : segment?.checks)?.length ?? 0;
  return {
    segment: isTrue ? segment : null,
    isKnown: isTrue && isKnown,
    readBytes: blocks * BLOCK_BYTES,
    busyMs: performance.now() - startedMs,
  };
}

/** Whether the blocks still have these checks. */
function holds({ file, firstBlock }: SegmentJob, checks: readonly BlockCheck[], tools: ScanTools): boolean {
  const scanner = new BlockScanner(tools.kernel, openFileText(file, tools), tools);
  return checks.every((check, column) => !tools.isCancelled() && scanner.isUnchanged(firstBlock + column, check));
}

function fillSegment({ file, firstBlock, endBlock = Infinity }: SegmentJob, tools: ScanTools): TextSegment | null {
  const { kernel } = tools;
  let hasHole = false;
  const onHole = () => {
    hasHole = true;
  };
  const scanner = new BlockScanner(kernel, openFileText(file, { ...tools, onHole }), tools);
  const most = Math.min(SEGMENT_BLOCKS, Math.min(blockCount(file.textBytes), endBlock) - firstBlock);
  const rowBytes = Math.ceil(most / BYTE_BITS);
  if (rowBytes < 1) return null;
  const rows = new Uint8Array(GRAM_ROWS * rowBytes);
  const checks: BlockCheck[] = [];
  kernel.gramColumns.fill(0);
  for (let column = 0; column < most && !tools.isCancelled(); column++) {
    hasHole = false;
    scanner.load(firstBlock + column);
    const end = scanner.recordsEnd();
    const check = checkRecords({ scanner, kernel, file }, end);
    if (!check) break;
    checks.push(check);
    const bit = 1 << (column % BYTE_BITS);
    kernel.addGrams(1, end, bit);
    // Every search reads it, and reports the hole.
    if (hasHole) setColumn(kernel.gramColumns, bit);
    if (column % BYTE_BITS === BYTE_BITS - 1) takeColumns(kernel.gramColumns, rows, column / BYTE_BITS);
  }
  if (checks.length === 0) return null;
  if (checks.length % BYTE_BITS > 0) takeColumns(kernel.gramColumns, rows, checks.length / BYTE_BITS);
  return { firstBlock, width: rowBytes * BYTE_BITS, checks, rows };
}

/** Moves the columns of up to eight blocks, one of which is given, to the rows. */
function takeColumns(columns: Uint8Array, rows: Uint8Array, at: number): void {
  const rowBytes = rows.length / GRAM_ROWS;
  for (let row = 0, to = Math.floor(at); row < GRAM_ROWS; row++, to += rowBytes) rows[to] = columns[row] ?? 0;
  columns.fill(0);
}

function setColumn(columns: Uint8Array, bit: number): void {
  for (let row = 0; row < columns.length; row++) columns[row] = (columns[row] ?? 0) | bit;
}

const NEWLINE = 10;

/**
 * The checksum of all bytes of which the text of the block's records is made, wherever the last of them ends, and of
 * those that decide where it does: the head behind it, or the next block if it has none. `undefined` if these are not
 * complete yet.
 */
function checkRecords(
  { scanner, kernel, file }: { scanner: BlockScanner; kernel: ScanKernel; file: ScanFile },
  recordsEnd: number,
): BlockCheck | undefined {
  const { blockEnd } = scanner;
  if (scanner.toOffset(recordsEnd) >= file.textBytes) return undefined;
  const isHead = scanner.headAt(recordsEnd) !== undefined;
  // The next block is split, or a hole: all of it was examined.
  const decidedAt = isHead ? recordsEnd : Math.max(recordsEnd, blockEnd + BLOCK_BYTES);
  const mostEnd = decidedAt + MAX_HEAD_BYTES;
  const findNewline = () => scanner.bytes.indexOf(NEWLINE, isHead ? decidedAt : decidedAt - 1);
  // No further than needed: what is read may be a hole, which would be one of this block.
  if (findNewline() < 0) scanner.loadUpTo(scanner.toOffset(mostEnd));
  const newline = findNewline();
  const bytes = newline < 0 ? mostEnd : Math.min(newline + 1, mostEnd);
  if (bytes > scanner.bytes.length) return undefined;
  return { bytes, hash: kernel.checksum(0, bytes), scrubbed: true };
}
