import type { CheckedIndex } from '../../block-index/checked-index.ts';
import { BLOCK_BYTES, blockAt } from '../../scan/block/blocks.ts';
import type { CancelFlag } from '../../scan/cancel-flag.ts';
import type { BlockSummary, ScanFile, ScanPart } from '../../scan/jobs.ts';
import type { RecordMatcher } from '../../scan/match/record-matcher.ts';
import { disorderNear } from '../../scan/tasks/seek-time.ts';
import { noteOutOfOrder, noteProblem, noteUntimed, type OpenFamily } from '../files/open-family.ts';
import type { OpenFile } from '../files/open-file.ts';
import type { PositionRange, RecordPosition } from '../position.ts';
import type { ScanContext } from '../scan-context.ts';
import type { ScanTally } from '../scan-tally.ts';
import { canMatch, isUseful, planRuns } from './plan-runs.ts';

/** The first parts are small, so that a question answered near its start is answered at once; then they grow. */
const FIRST_PART_BLOCKS = 1;
const PART_GROWTH = 4;

/** 32 MiB take a thread some 10 ms: short enough to take turns, long enough that handing over does not count. */
const MAX_PART_BLOCKS = 128;

/** Where every record is taken apart, 8 MiB take as long. */
export const COUNTED_PART_BLOCKS = 32;

/** Blocks of which it is verified at once whether they are what the index knows: at first few, like parts. */
const VERIFIED_PER_BLOCK = 16;
const MAX_VERIFIED_BLOCKS = 256;

/** What is to be scanned of a family, and for what. */
export interface FamilyTask {
  scanContext: ScanContext;
  family: OpenFamily;
  range: PositionRange;
  matcher: RecordMatcher;
  newestFirst: boolean;
  flag: CancelFlag;
  tally: ScanTally;
  /** Parts scanned ahead of the one that is waited for; as many as there are threads, unless little is wanted. */
  ahead?: number | undefined;
  /** Answers for a block by what is known of it, if it can; only asked for blocks that lie within the range as a whole. */
  takeKnown?: ((summary: BlockSummary) => boolean) | undefined;
  /** Blocks of a part at most. */
  mostBlocks?: number;
  /** Whether single records can be scanned instead of blocks, where those in question are known. */
  withPicks?: boolean;
  /** Kept up to date by the scan. */
  progress?: FamilyProgress;
}

/** How far the scan of a family has come, oldest first. */
export interface FamilyProgress {
  /** All of the range before it has been scanned. */
  reached: RecordPosition;
  /** All of the range has been scanned. */
  isComplete: boolean;
}

export interface FilePart extends ScanPart {
  picks: readonly number[];
  opened: OpenFile;
  /** Its number in the family. */
  number: number;
  index: CheckedIndex;
}

/** The parts of a family that can hold a match, in scan order. A file is prepared only when its turn comes. */
export async function* fileParts(task: FamilyTask): AsyncGenerator<FilePart, void, undefined> {
  const { family, newestFirst, range } = task;
  let blocks = FIRST_PART_BLOCKS;
  const numbers = family.files.map((_, number) => number);
  for (const number of newestFirst ? numbers.reverse() : numbers) {
    const opened = family.files[number];
    if (!opened || number < range.from.file || number > range.to.file || task.flag.isSet) continue;
    if (cannotMatch(task, number)) continue;
    const bounds = await findBounds(task, opened, number);
    if (!bounds) continue;
    for await (const part of planParts(task, opened, number, bounds)) {
      if (part.runs.length + part.picks.length > 0) yield part;
      blocks = Math.min(blocks * PART_GROWTH, task.mostBlocks ?? MAX_PART_BLOCKS);
    }
  }

  async function* planParts({ matcher, tally }: FamilyTask, opened: OpenFile, number: number, bounds: Bounds) {
    const { file, startBytes, endBytes, index } = bounds;
    const takeKnown =
      task.takeKnown && ((known: BlockSummary) => isInside(known, bounds) && task.takeKnown?.(known) === true);
    let first = blockAt(startBytes);
    let end = blockAt(endBytes - 1) + 1;
    while (first < end && !task.flag.isSet) {
      const most = Math.min(blocks * VERIFIED_PER_BLOCK, MAX_VERIFIED_BLOCKS);
      const window = newestFirst
        ? { first: Math.max(first, end - most), end }
        : { first, end: Math.min(end, first + most) };
      await verify(task, opened, bounds, window);
      const planned = planRuns(index, matcher, {
        ...window,
        newestFirst,
        most: blocks,
        takeKnown,
        withPicks: task.withPicks,
      });
      tally.skip({ opened, file }, planned.skipped);
      if (newestFirst) end = planned.next;
      else first = planned.next;
      const { runs, picks } = planned;
      const part: FilePart = { file, runs, picks, startBytes, endBytes, opened, number, index };
      yield part;
    }
  }
}

/** Has the threads compare what the index knows of these blocks with the file, where it may have changed since. */
async function verify(
  { scanContext, matcher, flag, takeKnown, withPicks = false, family }: FamilyTask,
  opened: OpenFile,
  { file, index }: Bounds,
  { first, end }: { first: number; end: number },
): Promise<void> {
  const usage = { takesKnown: takeKnown !== undefined, withPicks };
  const summaries = index.toVerify(first, end, (known) => isUseful(known, matcher, usage));
  if (summaries.length === 0) return;
  try {
    const blocks = summaries.map(({ block, check }) => ({ block, check }));
    index.noteVerified(summaries, await scanContext.pool.run({ kind: 'verify', file, blocks }, flag));
  } catch (error) {
    // What could not be verified is scanned, which meets the same failure if it lasts.
    if (!flag.isSet) noteProblem(family.problems, opened.name, error);
  }
}

function isInside({ block }: BlockSummary, { startBytes, endBytes }: Bounds): boolean {
  return block * BLOCK_BYTES >= startBytes && (block + 1) * BLOCK_BYTES <= endBytes;
}

interface Bounds {
  file: ScanFile;
  index: CheckedIndex;
  startBytes: number;
  endBytes: number;
}

/** By the first times of a file and of the one behind it, and by what is known of it, without looking any further. */
function cannotMatch(task: FamilyTask, number: number): boolean {
  const { family, matcher, scanContext, tally } = task;
  const { hasTimes, fromMs, toMs } = matcher;
  const file = family.files[number];
  if (!hasTimes || !file) return false;
  if (!file.timed) {
    noteUntimed(family.problems, file.name);
    return true;
  }
  const next = family.files[number + 1]?.firstMs ?? null;
  const isBefore = next !== null && next < fromMs - disorderNear(scanContext.zone, fromMs);
  const isBehind = file.firstMs !== null && file.firstMs > toMs + disorderNear(scanContext.zone, toMs);
  if (!isBefore && !isBehind) return false;
  // A file that overlaps the next one, or is not in order, does not begin and end where these times say.
  const known = scanContext.indexFor(file).times((timeMs) => disorderNear(scanContext.zone, timeMs));
  if (!known.isInOrder || (known.maxMs >= fromMs && known.minMs < toMs)) return false;
  tally.leaveUnread(file.handle.sizeBytes);
  return true;
}

/** The bytes in which a match can start: the range asked for, narrowed by times. */
async function findBounds(task: FamilyTask, opened: OpenFile, number: number): Promise<Bounds | undefined> {
  const { scanContext, family, range, flag } = task;
  try {
    const file = await scanContext.prepare(opened, flag, family.problems);
    const from = number === range.from.file ? range.from.offset : 0;
    const startBytes = Math.max(from, opened.textStart);
    const endBytes = number === range.to.file ? Math.min(range.to.offset, file.textBytes) : file.textBytes;
    if (startBytes >= endBytes) return undefined;
    const index = scanContext.indexFor(opened);
    const bounds = await narrowed(task, opened, { file, index, startBytes, endBytes });
    return bounds.startBytes < bounds.endBytes ? bounds : undefined;
  } catch (error) {
    if (flag.isSet) return undefined;
    return noteProblem(family.problems, opened.name, error);
  }
}

/**
 * Without the blocks that lie outside the time range, going by times at a few places. Only of a file in which nothing
 * is known to be out of order.
 */
async function narrowed({ scanContext, family, matcher, flag, tally }: FamilyTask, opened: OpenFile, whole: Bounds) {
  const { file, index, startBytes, endBytes } = whole;
  const { hasTimes, fromMs, toMs } = matcher;
  const slackAt = (timeMs: number) => disorderNear(scanContext.zone, timeMs);
  if (!hasTimes || !index.times(slackAt).isInOrder) return whole;
  const sought = await scanContext.pool.run({ kind: 'seek', file, fromMs, toMs }, flag);
  // Whole blocks: they are read in any case, and then nothing in them is missed.
  const first = Math.max(blockAt(startBytes), blockAt(sought.startBytes));
  const end = Math.min(blockAt(endBytes - 1), blockAt(Math.max(0, sought.endBytes - 1))) + 1;
  const skipped: number[] = [];
  let unreadBytes = 0;
  for (let block = blockAt(startBytes); block * BLOCK_BYTES < endBytes; block++) {
    if (block >= first && block < end) continue;
    const known = index.peek(block);
    if (known?.all && canMatch(known, matcher)) return whole;
    if (known?.all && index.get(block)) skipped.push(block);
    else unreadBytes += Math.min(BLOCK_BYTES, file.textBytes - block * BLOCK_BYTES);
  }
  tally.skip({ opened, file }, skipped);
  if (unreadBytes > 0) {
    tally.leaveUnread(unreadBytes, () => {
      if (!index.times(slackAt).isInOrder) noteOutOfOrder(family.problems, opened.name);
    });
  }
  return {
    ...whole,
    startBytes: Math.max(startBytes, first * BLOCK_BYTES),
    endBytes: Math.min(endBytes, end * BLOCK_BYTES),
  };
}
