import type { BlockSummary } from '../../block-index/block-index.ts';
import type { CheckedIndex } from '../../block-index/checked-index.ts';
import { BLOCK_BYTES, blockCount } from '../../scan/block/blocks.ts';
import type { ScanFile } from '../../scan/jobs.ts';
import type { FamilyTask } from './file-parts.ts';

/** Adds the times of blocks the index does not know, or not for certain, as many as the query may read in addition. */
export async function learnTimes(
  { scanContext, tally, flag }: Pick<FamilyTask, 'scanContext' | 'tally' | 'flag'>,
  { file, index }: { file: ScanFile; index: CheckedIndex },
  blocks: Iterable<number>,
): Promise<void> {
  const unsure: BlockSummary[] = [];
  const unknown: number[] = [];
  for (const block of blocks) {
    // The last one can still change, and is in no index.
    if (index.get(block)?.all || block === blockCount(file.textBytes) - 1) continue;
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
