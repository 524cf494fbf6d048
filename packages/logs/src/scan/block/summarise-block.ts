import { levelRank } from '../../parse/level.ts';
import type { BlockSummary, RecordTable } from './blocks.ts';

export const ERROR_RANK = levelRank('ERROR');

/** The index entry of a block. */
export function summariseBlock(block: number, table: RecordTable): Omit<BlockSummary, 'check'> {
  const { count, times, ranks } = table;
  const counts = [0, 0, 0, 0, 0, 0, 0];
  let minMs = Infinity;
  let maxMs = -Infinity;
  let lateMs = 0;
  let untimed = 0;
  for (let index = 0; index < count; index++) {
    const rank = ranks[index] ?? 0;
    const time = times[index] ?? Number.NaN;
    counts[rank] = (counts[rank] ?? 0) + 1;
    if (time < minMs) minMs = time;
    if (time > maxMs) maxMs = time;
    else if (maxMs - time > lateMs) lateMs = maxMs - time;
    if (Number.isNaN(time)) untimed++;
  }
  return {
    block,
    all: { minMs, maxMs, lateMs, counts, untimed },
    hasErrors: counts.slice(ERROR_RANK).some((errors) => errors > 0),
  };
}
