import type { CheckedIndex } from '../../block-index/checked-index.ts';
import type { CancelFlag } from '../../cancel-flag.ts';
import { BLOCK_BYTES, type BlockSummary, blockAt } from '../../scan/block/blocks.ts';
import type { ScanFile, ScanPart } from '../../scan/block/scan-file.ts';
import type { RecordMatcher } from '../../scan/match/record-matcher.ts';
import { disorderNear, SMALL_BYTES } from '../../scan/tasks/seek-time.ts';
import { noteProblem, noteUntimed, type OpenFamily } from '../files/open-family.ts';
import type { OpenFile } from '../files/open-file.ts';
import type { ScanContext } from '../scan-context.ts';
import { type Bounds, narrowBounds } from './narrow-bounds.ts';
import { canMatch, planRuns, type RunsRange } from './plan-runs.ts';
import type { ScanTally } from './scan-tally.ts';
import { TextBlocks } from './text-blocks.ts';

/** A position in a family: the index of a file, and an offset in its text. */
export interface RecordPosition {
  file: number;
  offset: number;
}

/** Records whose start is at or after `from` and before `to`. */
export interface PositionRange {
  from: RecordPosition;
  to: RecordPosition;
}

/** Before everything, and after everything. */
export const FIRST_POSITION: RecordPosition = { file: 0, offset: 0 };
export const LAST_POSITION: RecordPosition = { file: Number.MAX_SAFE_INTEGER, offset: 0 };

/** The first parts are small, so that a query satisfied near its start returns at once; then they grow. */
const FIRST_PART_BLOCKS = 1;
const PART_GROWTH = 4;

/** A thread takes about 10 ms for 32 MiB: short enough to take turns, long enough that the handover is negligible. */
export const MAX_PART_BLOCKS = 128;

/** If every record is parsed, 8 MiB take as long. */
export const COUNTED_PART_BLOCKS = 32;

/** Blocks verified against the index at once, per block of a part: few at first, like parts. */
const VERIFIED_PER_BLOCK = 16;
const MAX_VERIFIED_BLOCKS = 256;

/** The same with a text index, which leaves few of them, or if nothing has to be verified. */
const LOOKED_UP_PER_BLOCK = 512;
const MAX_LOOKED_UP_BLOCKS = 8192;

/** What to scan of a family, and for what. */
export interface FamilyTask {
  scanContext: ScanContext;
  family: OpenFamily;
  range: PositionRange;
  matcher: RecordMatcher;
  newestFirst: boolean;
  flag: CancelFlag;
  tally: ScanTally;
  /** Parts scanned ahead of the one being awaited; as many as there are threads, unless little is wanted. */
  ahead?: number | undefined;
  /** Handles blocks by their index entries. */
  known?: KnownBlocks | undefined;
  /** Only for a sample: whether a block, in scan order, is part of it. */
  isChosen?: (() => boolean) | undefined;
  /** Maximum blocks of a part. */
  mostBlocks?: number;
  /** Updated by the scan. */
  progress?: FamilyProgress;
}

/** Whose block it is. */
export interface BlockOwner {
  family: OpenFamily;
  /** Index of the file in the family. */
  number: number;
  file: ScanFile;
  index: CheckedIndex;
}

/** Handles blocks that need not be scanned, because all that is needed of them is known. */
export interface KnownBlocks {
  /** Whether it could, if the entry is still true. */
  mayTake(summary: BlockSummary, owner: BlockOwner): boolean;
  /** Handles a block, if it can; only called for blocks entirely within the range. */
  take(summary: BlockSummary, owner: BlockOwner): boolean;
}

/** How far the scan of a family has come, oldest first. */
export interface FamilyProgress {
  /** All of the range before it has been scanned. */
  reached: RecordPosition;
  /** All of the range has been scanned. */
  isComplete: boolean;
}

export interface FilePart extends ScanPart {
  opened: OpenFile;
  /** Its index in the family. */
  number: number;
  index: CheckedIndex;
}

interface PlannedFile {
  opened: OpenFile;
  number: number;
  texts: TextBlocks | undefined;
}

/** The parts of a family that can contain a match, in scan order. A file is prepared only when its turn comes. */
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
    const texts = await TextBlocks.open(task, opened, bounds);
    try {
      for await (const part of planParts(task, { opened, number, texts }, bounds)) {
        if (part.runs.length > 0) yield part;
        blocks = Math.min(blocks * PART_GROWTH, task.mostBlocks ?? MAX_PART_BLOCKS);
      }
    } finally {
      texts?.close();
    }
  }

  async function* planParts({ matcher, tally }: FamilyTask, { opened, number, texts }: PlannedFile, bounds: Bounds) {
    const { file, startBytes, endBytes, index } = bounds;
    const { known: blocksKnown } = task;
    const owner = { family, number, file, index };
    const mayContain = texts?.mayContain;
    const takeKnown =
      blocksKnown && ((known: BlockSummary) => isInside(known, bounds) && blocksKnown.take(known, owner));
    let first = blockAt(startBytes);
    let end = blockAt(endBytes - 1) + 1;
    while (first < end && !task.flag.isSet) {
      const most =
        texts || index.isProven
          ? Math.min(blocks * LOOKED_UP_PER_BLOCK, MAX_LOOKED_UP_BLOCKS)
          : Math.min(blocks * VERIFIED_PER_BLOCK, MAX_VERIFIED_BLOCKS);
      const window = newestFirst
        ? { first: Math.max(first, end - most), end }
        : { first, end: Math.min(end, first + most) };
      await texts?.lookUp(window.first, window.end);
      await verify(task, opened, { ...bounds, number }, { ...window, mayContain });
      const planned = planRuns(index, matcher, {
        ...window,
        newestFirst,
        most: blocks,
        mayContain,
        takeKnown,
        isChosen: task.isChosen,
      });
      tally.skip({ opened, file }, planned.skipped);
      tally.leaveOut({ file }, planned.notChosen);
      if (newestFirst) end = planned.next;
      else first = planned.next;
      const part: FilePart = { file, runs: planned.runs, startBytes, endBytes, opened, number, index };
      yield part;
    }
  }
}

/** Has the threads verify the index entries of these blocks, if the file may have changed since. */
async function verify(
  { scanContext, matcher, flag, known: blocksKnown, family }: FamilyTask,
  opened: OpenFile,
  { file, index, number }: Bounds & { number: number },
  { first, end, mayContain }: Pick<RunsRange, 'first' | 'end' | 'mayContain'>,
): Promise<void> {
  const owner = { family, number, file, index };
  const summaries = index.toVerify(first, end, (known) => {
    if (mayContain && !mayContain(known.block)) return false;
    return !canMatch(known, matcher) || blocksKnown?.mayTake(known, owner) === true;
  });
  if (summaries.length === 0) return;
  try {
    const blocks = summaries.map(({ block, check }) => ({ block, check }));
    index.noteVerified(summaries, await scanContext.pool.run({ kind: 'verify', file, blocks }, flag));
  } catch (error) {
    // What could not be verified is scanned, which fails in the same way if the failure persists.
    if (!flag.isSet) noteProblem(family.problems, opened.name, error);
  }
}

function isInside({ block }: BlockSummary, { startBytes, endBytes }: Bounds): boolean {
  return block * BLOCK_BYTES >= startBytes && (block + 1) * BLOCK_BYTES <= endBytes;
}

/** By the first times of a file and of the next one, and by its index, without reading anything. */
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
  if (!file.compressed && file.handle.sizeBytes <= Math.max(SMALL_BYTES, tally.extraBytes)) return false;
  // A file that overlaps the next one, or is not in order, does not begin and end at these times.
  const known = scanContext.indexFor(file).times((timeMs) => disorderNear(scanContext.zone, timeMs));
  if (!known.isInOrder || (known.maxMs >= fromMs && known.minMs < toMs)) return false;
  tally.leaveUnread(file.handle.sizeBytes);
  return true;
}

/** The bytes in which a match can start: the requested range, narrowed by times. */
async function findBounds(task: FamilyTask, opened: OpenFile, number: number): Promise<Bounds | undefined> {
  const { scanContext, family, range, flag } = task;
  try {
    const file = await scanContext.prepare(opened, flag, family.problems);
    const from = number === range.from.file ? range.from.offset : 0;
    const startBytes = Math.max(from, opened.textStart);
    const endBytes = number === range.to.file ? Math.min(range.to.offset, file.textBytes) : file.textBytes;
    if (startBytes >= endBytes) return undefined;
    const index = scanContext.indexFor(opened);
    const bounds = await narrowBounds(task, opened, { file, index, startBytes, endBytes });
    return bounds.startBytes < bounds.endBytes ? bounds : undefined;
  } catch (error) {
    if (flag.isSet) return undefined;
    return noteProblem(family.problems, opened.name, error);
  }
}
