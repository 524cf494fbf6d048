import type { CancelFlag } from '../cancel-flag.ts';
import { blockCount } from '../scan/block/blocks.ts';
import type { ScanFile } from '../scan/block/scan-file.ts';
import { SEGMENT_BLOCKS, type SegmentJob, type TextIndexStore, type TextKey } from '../scan/index-jobs.ts';
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
  /** Stamp of the file; `undefined` if it was changed less than a minute ago: then nothing was done. */
  stamp: string | undefined;
  /** Nothing is left to do for the file as it is now. */
  isDone: boolean;
  /** Segments that were built, and those of the same text that were found to be true of this file. */
  built: number;
  renewed: number;
  /** Text that was read. */
  readBytes: number;
  /** Time that scanning threads worked. */
  busyMs: number;
}

interface IndexedFile {
  file: ScanFile;
  stamp: string;
  key: TextKey;
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
      const done = await new TextIndexer({ store, pool, flag }).index(
        { file, key: scanContext.textKey(opened, file) },
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

  /** At most `most` segments. */
  async index({ file, key }: Omit<IndexedFile, 'stamp'>, most: number): Promise<IndexedText> {
    const { stamp } = file;
    const done: IndexedText = { stamp, isDone: true, built: 0, renewed: 0, readBytes: 0, busyMs: 0 };
    if (stamp === undefined) return done;
    const kept = await this.#store.open(key);
    try {
      for (let first = 0; first < blockCount(file.textBytes); first += SEGMENT_BLOCKS) {
        const known = kept?.segments.find(({ firstBlock }) => firstBlock === first);
        if (known?.stamps.includes(stamp)) continue;
        if (done.built + done.renewed >= most) return { ...done, isDone: false };
        const checks = kept && known ? await kept.checks(known) : undefined;
        if (!(await this.#addSegment({ file, stamp, key }, { firstBlock: first, known: checks }, done))) break;
      }
    } finally {
      kept?.release();
    }
    return done;
  }

  /** False if there is nothing to add, or the file is changing. */
  async #addSegment(
    { file, stamp, key }: IndexedFile,
    { firstBlock, known }: Pick<SegmentJob, 'firstBlock' | 'known'>,
    done: IndexedText,
  ): Promise<boolean> {
    const job: SegmentJob = { kind: 'segment', file, firstBlock, known };
    const { segment, isKnown, readBytes, busyMs } = await this.#pool.run(job, this.#flag);
    done.busyMs += busyMs;
    done.readBytes += readBytes;
    if (isKnown) {
      await this.#store.renew(key, [firstBlock], stamp);
      done.renewed++;
    } else if (segment) {
      await this.#store.put(key, segment, stamp);
      done.built++;
    }
    return isKnown || segment !== null;
  }
}
