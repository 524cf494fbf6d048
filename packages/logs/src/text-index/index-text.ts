import { hasGrownSince, type LiveLimits, type LiveText, unsettledStamp } from '../block-index/live-texts.ts';
import type { CancelFlag } from '../cancel-flag.ts';
import type { LogHandle } from '../file/handle-cache.ts';
import { blockCount } from '../scan/block/blocks.ts';
import type { ScanFile } from '../scan/block/scan-file.ts';
import {
  type KeptSegment,
  SEGMENT_BLOCKS,
  type SegmentJob,
  type TextIndexStore,
  type TextKey,
} from '../scan/index-jobs.ts';
import type { WorkerPool } from '../scan/worker-pool.ts';
import type { FileOpener } from '../search/files/open-file.ts';
import { cancellable } from '../search/packed-text.ts';
import type { ScanContext } from '../search/scan-context.ts';
import type { ReadOptions } from '../types.ts';

/** It takes its turn like a client. */
const INDEXING = 'index';

export interface IndexOptions extends ReadOptions {
  /** At most this many segments; the others by later calls. */
  most?: number;
}

/** What was done for the index of one file. */
export interface IndexedText {
  /** Stamp of the file; `undefined` if it was changed less than a minute ago, and may be growing. */
  stamp: string | undefined;
  /** Nothing is left to do for the file as it is now. */
  isDone: boolean;
  /** Segments that were built, and those of the same text that were found to be true of this file. */
  built: number;
  renewed: number;
  /** Text that was read. */
  readBytes: number;
  /** Of a file that may be growing: there is more to do once it has this size. */
  grownBytes?: number;
  /** Time that scanning threads worked. */
  busyMs: number;
}

interface IndexedFile {
  file: ScanFile;
  handle: LogHandle;
  key: TextKey;
  /** The file as it was seen before it is read; `undefined` if what was read of it proves nothing while it grows. */
  live: LiveText | undefined;
  limits: LiveLimits;
  /** Of what is built or renewed. */
  stamp: string;
  /** Blocks that can be indexed; `isOpen`: there will be more. */
  endBlock: number;
  isOpen: boolean;
}

/** Adds what is missing of a file to the text index. */
export async function indexText(
  { opener, scanContext }: { opener: FileOpener; scanContext: ScanContext },
  name: string,
  { signal, most = Infinity }: IndexOptions,
): Promise<IndexedText> {
  const { textIndex: store, pool } = scanContext;
  if (!store) throw new Error('there is no text index');
  const opened = await opener.open(name, { ...(signal && { signal }) });
  try {
    return await cancellable({ signal, client: INDEXING }, async (flag) => {
      const file = await scanContext.prepare(opened, flag, []);
      const { handle } = opened;
      const live = file.packedMap ? undefined : scanContext.live.see(opened);
      const isOpen = file.stamp === undefined;
      const done = await new TextIndexer({ store, pool, flag }).index(
        {
          file,
          handle,
          key: scanContext.textKey(opened, file),
          live,
          limits: scanContext.live.limits,
          stamp: file.stamp ?? unsettledStamp(handle),
          endBlock: isOpen ? (live?.finishedBlocks ?? 0) : blockCount(file.textBytes),
          isOpen,
        },
        most,
      );
      signal?.throwIfAborted();
      return done;
    });
  } catch (error) {
    // A job that was cancelled fails with an error of its own.
    signal?.throwIfAborted();
    throw error;
  } finally {
    opened.handle.release();
  }
}

/** Builds segments of a text that are missing, one after the other. */
class TextIndexer {
  readonly #store: TextIndexStore;
  readonly #pool: WorkerPool;
  readonly #flag: CancelFlag;

  constructor(deps: { store: TextIndexStore; pool: WorkerPool; flag: CancelFlag }) {
    this.#store = deps.store;
    this.#pool = deps.pool;
    this.#flag = deps.flag;
    // Searches queued before it go first.
    this.#flag.isSlow = true;
  }

  /** At most so many segments. */
  async index(indexed: IndexedFile, mostSegments: number): Promise<IndexedText> {
    const { file, key, live, endBlock, isOpen } = indexed;
    const done: IndexedText = { stamp: file.stamp, isDone: true, built: 0, renewed: 0, readBytes: 0, busyMs: 0 };
    const kept = await this.#store.open(key);
    try {
      for (let first = 0, next = 0; first < endBlock; first = next) {
        const known = kept?.segments.find(({ firstBlock }) => firstBlock === first);
        const most = mostBlocks(first, indexed);
        next = first + (known ? coveredBlocks(known, most, indexed) : most);
        const isGrown = known !== undefined && !isOpen && hasGrown(known, most, indexed);
        if (!isGrown && known && isTrue(known, indexed)) continue;
        if (done.built + done.renewed >= mostSegments) return { ...done, isDone: false };
        const checks = kept && known && !isGrown ? await kept.checks(known) : undefined;
        const isKept = isOpen && known !== undefined && hasGrownSince(known, indexed.handle);
        const part = { firstBlock: first, endBlock: isOpen ? first + most : undefined, known: checks };
        const built = done.built;
        if (!(await this.#addSegment(indexed, { ...part, isKept }, done))) break;
        if (done.built > built) next = first + most;
      }
    } finally {
      kept?.release();
    }
    return { ...done, ...(isOpen && live && { grownBytes: live.grownBytes }) };
  }

  /** False if there is nothing to add, or the file is changing. */
  async #addSegment(
    { file, key, live, stamp }: IndexedFile,
    { isKept, ...part }: Pick<SegmentJob, 'firstBlock' | 'endBlock' | 'known'> & { isKept: boolean },
    done: IndexedText,
  ): Promise<boolean> {
    const { firstBlock, known } = part;
    const job: SegmentJob = { kind: 'segment', file, ...part };
    const doubts = live?.doubts ?? 0;
    const { segment, isKnown, readBytes, busyMs } = await this.#pool.run(job, this.#flag);
    done.busyMs += busyMs;
    done.readBytes += readBytes;
    if (isKnown) {
      if (!isKept) await this.#store.renew(key, [firstBlock], stamp);
      done.renewed++;
    } else if (segment) {
      await this.#store.put(key, segment, stamp);
      done.built++;
    }
    const checks = isKnown ? known : segment?.checks;
    if (checks) live?.noteCompared({ firstBlock, blocks: checks.length }, doubts);
    return isKnown || segment !== null;
  }
}

/** Whether a segment need not be compared with the file. */
function isTrue(segment: KeptSegment, { file, handle, live }: IndexedFile): boolean {
  if (file.stamp !== undefined) return segment.stamps.includes(file.stamp);
  return live?.trusts(segment, handle) === true && !live.isDue(segment);
}

/** How many blocks a new segment from this one on has at most. */
function mostBlocks(first: number, { limits: { partBlocks, wholeBlocks }, endBlock, isOpen }: IndexedFile): number {
  if (!isOpen) return Math.min(SEGMENT_BLOCKS - (first % SEGMENT_BLOCKS), endBlock - first);
  return first % wholeBlocks === 0 && endBlock - first >= wholeBlocks ? wholeBlocks : partBlocks;
}

/** Blocks from the start of a segment to that of the next one. The last one of a file at rest may have any number. */
function coveredBlocks({ blocks }: KeptSegment, most: number, { limits, isOpen }: IndexedFile): number {
  const odd = blocks % limits.partBlocks;
  return isOpen ? Math.max(limits.partBlocks, blocks - odd) : odd === 0 ? blocks : most;
}

/** Whether there are more blocks at the end of a file at rest than its last segment has: it is made anew. */
function hasGrown({ blocks, stamps }: KeptSegment, most: number, { file, limits }: IndexedFile): boolean {
  // The blocks that the last record is in cannot be indexed.
  return blocks % limits.partBlocks > 0 && most > blocks + 2 && !stamps.includes(file.stamp ?? '');
}
