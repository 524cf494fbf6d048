import type { IndexDir } from '../disk-index/index-dir.ts';
import type { IndexKeys } from '../disk-index/index-keys.ts';
import { closeFd, readFd, statFd } from '../file/fs-calls.ts';
import { isSystemError } from '../log-error.ts';
import { ONCE, Shared } from '../shared.ts';
import type { BlockIndexes, FileIndex } from './block-index.ts';
import { decodeSummaries, encodeSummaries } from './summary-codec.ts';

/** That of a terabyte of text. Anything larger was not written here. */
const MAX_FILE_BYTES = 512 * 1024 ** 2;

/** Few blocks are scanned in no time, and are not worth a file. */
const MIN_BLOCKS = 16;

/** What the summaries of a file depend on, besides its text. */
export interface SummaryKey {
  scrubId: string;
  parts: readonly (string | number)[];
}

/** Keeps block summaries in files, so that they survive a restart. */
export class SummaryStore {
  readonly #dir: IndexDir;
  readonly #keys: IndexKeys;
  readonly #loading = new WeakMap<FileIndex, Shared<void>>();
  readonly #keyOf = new WeakMap<FileIndex, SummaryKey>();

  constructor(dir: IndexDir, keys: IndexKeys) {
    this.#dir = dir;
    this.#keys = keys;
  }

  /** Adds what is kept to a new index, once. */
  load(index: FileIndex, key: SummaryKey): Promise<void> {
    const loading = this.#loading.get(index) ?? new Shared<void>(ONCE);
    this.#loading.set(index, loading);
    return loading.run(() => {
      this.#keyOf.set(index, key);
      return this.#read(index, key);
    });
  }

  /** Writes what was learned since it was last written. Returns whether nothing is left. */
  async save(indexes: BlockIndexes): Promise<boolean> {
    let isSaved = true;
    for (const index of indexes.all()) {
      const key = this.#keyOf.get(index);
      if (!key || !index.isChanged || index.blockCount < MIN_BLOCKS) continue;
      await this.#loading.get(index)?.last();
      const name = await this.#keys.name('blocks', { ...key, create: true });
      if (name === undefined) {
        // It has none any more if the rules have changed, by which it is masked.
        if (this.#dir.usage.isFailing) isSaved = false;
        continue;
      }
      // Before it is written: searches may learn more meanwhile.
      index.isChanged = false;
      if (!(await this.#dir.write(name, await encodeSummaries(index.toKeep())))) {
        index.isChanged = true;
        isSaved = false;
      }
      await this.#dir.trim();
    }
    return isSaved;
  }

  async #read(index: FileIndex, key: SummaryKey): Promise<void> {
    const name = await this.#keys.name('blocks', { ...key, create: false });
    const fd = name === undefined ? undefined : await this.#dir.openRead(name);
    if (name === undefined || fd === undefined) return;
    try {
      const bytes = await readWhole(fd);
      const kept = bytes && (await decodeSummaries(bytes));
      if (kept) index.restore(kept);
      else await this.#dir.drop(name);
    } finally {
      await closeFd(fd);
    }
  }
}

/** `undefined` if it cannot be read, or is too large to be what was written. */
async function readWhole(fd: number): Promise<Buffer | undefined> {
  try {
    const length = Number((await statFd(fd)).size);
    if (length > MAX_FILE_BYTES) return undefined;
    const buffer = Buffer.allocUnsafe(length);
    return buffer.subarray(0, await readFd(fd, buffer, { position: 0, length }));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}
