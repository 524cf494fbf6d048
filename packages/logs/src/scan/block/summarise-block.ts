import { levelRank } from '../../parse/level.ts';
import type { BlockScanner } from './block-scanner.ts';
import type { BlockSummary, RecordTable } from './blocks.ts';

/** Offsets of errors kept per block; with more than that, the block is quickly scanned again. */
const MAX_ERRORS = 256;

export const ERROR_RANK = levelRank('ERROR');

/** The index entry of a block. */
export function summariseBlock(scanner: BlockScanner, block: number, table: RecordTable): Omit<BlockSummary, 'check'> {
  const { count, starts, times, ranks } = table;
  const counts = [0, 0, 0, 0, 0, 0, 0];
  const errors: number[] = [];
  let minMs = Infinity;
  let maxMs = -Infinity;
  let lateMs = 0;
  let untimed = 0;
  for (let index = 0; index < count; index++) {
    const rank = ranks[index] ?? 0;
    const time = times[index] ?? Number.NaN;
    counts[rank] = (counts[rank] ?? 0) + 1;
    if (rank >= ERROR_RANK && errors.length <= MAX_ERRORS) errors.push(scanner.toOffset(starts[index] ?? 0));
    if (time < minMs) minMs = time;
    if (time > maxMs) maxMs = time;
    else if (maxMs - time > lateMs) lateMs = maxMs - time;
    if (Number.isNaN(time)) untimed++;
  }
  return {
    block,
    all: { minMs, maxMs, lateMs, counts, untimed },
    errors: errors.length > MAX_ERRORS ? null : errors,
  };
}

/** The index entry of a block of which only the errors were scanned. */
export function summariseErrors(
  scanner: BlockScanner,
  block: number,
  starts: readonly number[],
): Omit<BlockSummary, 'check'> {
  const errors = starts.length > MAX_ERRORS ? null : starts.map((start) => scanner.toOffset(start));
  return { block, all: null, errors };
}
