import type { CheckedIndex } from '../../block-index/checked-index.ts';
import { BLOCK_BYTES, type BlockSummary, blockAt, blockCount } from '../../scan/block/blocks.ts';
import type { ScanFile } from '../../scan/block/scan-file.ts';
import { disorderNear, SMALL_BYTES } from '../../scan/tasks/seek-time.ts';
import { noteOutOfOrder } from '../files/open-family.ts';
import type { OpenFile } from '../files/open-file.ts';
import type { FamilyTask } from './file-parts.ts';
import { canMatch } from './plan-runs.ts';

/** The bytes of a file in which a match can start. */
export interface Bounds {
  file: ScanFile;
  index: CheckedIndex;
  startBytes: number;
  endBytes: number;
}

/**
 * Removes the blocks outside the time range, based on a few probed times. Only for a large file in which nothing is known
 * to be out of order. The index learns the times of blocks beside the range, nearest first, as far as the query may read
 * more than it needs: late records are found there, and a file they are found in is scanned whole.
 */
export async function narrowBounds(task: FamilyTask, opened: OpenFile, whole: Bounds): Promise<Bounds> {
  const { scanContext, family, matcher, flag, tally } = task;
  const { file, index, startBytes, endBytes } = whole;
  const { hasTimes, fromMs, toMs } = matcher;
  const isInOrder = () => index.times((timeMs) => disorderNear(scanContext.zone, timeMs)).isInOrder;
  if (!hasTimes || file.textBytes <= SMALL_BYTES || !isInOrder()) return whole;
  const range = `${fromMs} ${toMs} ${file.scrub?.id}`;
  const sought = index.sought(range) ?? (await scanContext.pool.run({ kind: 'seek', file, fromMs, toMs }, flag));
  index.noteSought(range, sought);
  // Whole blocks: they are read in any case, and then nothing in them is missed.
  const first = Math.max(blockAt(startBytes), blockAt(sought.startBytes));
  const end = Math.min(blockAt(endBytes - 1), blockAt(Math.max(0, sought.endBytes - 1))) + 1;
  const outside = blocksOutside(whole, first, end);
  await learnTimes(task, whole, outside);
  if (!isInOrder()) return whole;
  const skipped: number[] = [];
  let unreadBytes = 0;
  for (const block of outside) {
    const known = index.peek(block);
    if (known?.all && canMatch(known, matcher)) return whole;
    if (known?.all && index.get(block)) skipped.push(block);
    else unreadBytes += Math.min(BLOCK_BYTES, file.textBytes - block * BLOCK_BYTES);
  }
  // A last block that can still change is in no index: it is scanned with the others, which are skipped again.
  if (unreadBytes > 0 && tally.takeExtra(unreadBytes)) return whole;
  tally.skip({ opened, file }, skipped);
  if (unreadBytes > 0) {
    tally.leaveUnread(unreadBytes, () => {
      if (!isInOrder()) noteOutOfOrder(family.problems, opened.name);
    });
  }
  return {
    ...whole,
    startBytes: Math.max(startBytes, first * BLOCK_BYTES),
    endBytes: Math.min(endBytes, end * BLOCK_BYTES),
  };
}

/** The blocks of the bounds that are not in `[first, end)`, the nearest first. */
function blocksOutside({ startBytes, endBytes }: Bounds, first: number, end: number): number[] {
  const [from, to] = [blockAt(startBytes), blockAt(endBytes - 1) + 1];
  const blocks: number[] = [];
  for (let step = 0; first - 1 - step >= from || end + step < to; step++) {
    // Records are late more often than early: those behind the range come first.
    if (end + step >= from && end + step < to) blocks.push(end + step);
    if (first - 1 - step >= from && first - 1 - step < to) blocks.push(first - 1 - step);
  }
  return blocks;
}

/**
 * This many blocks beside a time range show whether its records are in order. If that many are known already, a query adds
 * only a few more: one that is repeated is not to take as long each time, and yet all of the file is known some day.
 */
const ENOUGH_BLOCKS = 32;
const FEW_BLOCKS = 4;

/** Adds the times of blocks the index does not know, or not for certain, as many as the query may read in addition. */
export async function learnTimes(
  { scanContext, tally, flag }: Pick<FamilyTask, 'scanContext' | 'tally' | 'flag'>,
  { file, index }: { file: ScanFile; index: CheckedIndex },
  blocks: Iterable<number>,
): Promise<void> {
  const unsure: BlockSummary[] = [];
  const unknown: number[] = [];
  let knownBlocks = 0;
  for (const block of blocks) {
    // The last one can still change, and is in no index.
    if (block === blockCount(file.textBytes) - 1) continue;
    if (index.get(block)?.all) {
      knownBlocks++;
      continue;
    }
    if (unsure.length + unknown.length >= Math.max(ENOUGH_BLOCKS - knownBlocks, FEW_BLOCKS)) break;
    if (!tally.takeExtra(BLOCK_BYTES)) break;
    const known = index.peek(block);
    if (known?.all) unsure.push(known);
    else unknown.push(block);
  }
  if (unsure.length > 0) {
    const checks = unsure.map(({ block, check }) => ({ block, check }));
    index.noteVerified(unsure, await scanContext.pool.run({ kind: 'verify', file, blocks: checks }, flag));
    unknown.push(...unsure.flatMap(({ block }) => (index.get(block)?.all ? [] : [block])));
  }
  if (unknown.length === 0) return;
  const runs = unknown.sort((a, b) => a - b).flatMap((block) => [block, block + 1]);
  const job = { kind: 'times' as const, file, runs, startBytes: 0, endBytes: file.textBytes };
  const { summaries } = await scanContext.pool.run(job, flag);
  for (const summary of summaries) index.add(summary);
}
