import type { BlockSummary } from '../../block-index/block-index.ts';
import type { CheckedIndex } from '../../block-index/checked-index.ts';
import { BLOCK_BYTES, blockCount } from '../../scan/block/blocks.ts';
import type { ScanFile } from '../../scan/jobs.ts';
import type { FamilyTask } from './file-parts.ts';

/**
 * So many blocks beside a time range tell whether its records are in order. If that many are known already, a query adds
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
