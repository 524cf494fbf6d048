import type { BlockIndexes } from '../block-index/block-index.ts';
import { SummaryStore } from '../block-index/summary-store.ts';
import { IndexDir, type IndexDirOptions, type IndexDirUsage, IndexKeys } from '../file/index-dir.ts';
import type { SeenFile } from '../read/list.ts';
import type { Scrubbing } from '../scrub/scrubber.ts';
import { FileTextIndexes } from '../text-index/file-text-indexes.ts';
import { IndexBuilder, type IndexBuilderDeps } from '../text-index/index-builder.ts';
import { IndexKeeper } from './index-keeper.ts';
import { nothingIfUnreadable } from './index-watch.ts';

interface DiskIndexDeps extends Pick<IndexBuilderDeps, 'indexText'> {
  indexes: BlockIndexes;
  scrubbing: Scrubbing;
  list(): Promise<SeenFile[]>;
}

export interface DiskIndexUsage extends IndexDirUsage {
  /** Bytes of text indexes written so far. */
  builtBytes: number;
}

/** What is kept on disk for the next process, and who writes it. */
export class DiskIndex {
  readonly summaries: SummaryStore;
  readonly textIndex: FileTextIndexes;
  readonly keeper: IndexKeeper;
  readonly builder: IndexBuilder;
  readonly #dir: IndexDir;
  readonly #deps: DiskIndexDeps;

  constructor(options: IndexDirOptions, deps: DiskIndexDeps) {
    const dir = new IndexDir(options);
    const keys = new IndexKeys(dir, { ...options, scrubbing: deps.scrubbing });
    const store = new FileTextIndexes({ dir, keys, onScanned: (name) => this.builder.noteScanned(name) });
    this.#dir = dir;
    this.#deps = deps;
    this.summaries = new SummaryStore(dir, keys);
    this.textIndex = store;
    this.builder = new IndexBuilder({ ...deps, store, list: () => this.#survey() });
    this.keeper = new IndexKeeper({
      save: () => this.#save(),
      build: (signal, step) => this.builder.run(signal, step),
      onError: (error) => options.onProblem?.(String(error)),
      ...options.times,
    });
  }

  get usage(): DiskIndexUsage {
    return { ...this.#dir.usage, builtBytes: this.textIndex.builtBytes };
  }

  /** Stops building, and writes what is not written yet. */
  async close(): Promise<void> {
    await this.keeper.close();
    await this.textIndex.close();
  }

  async #save(): Promise<boolean> {
    const { indexes } = this.#deps;
    if (!indexes.all().some(({ isChanged }) => isChanged)) return true;
    await this.#survey();
    return this.summaries.save(indexes);
  }

  /** Lists the logs, whose size determines the limit, and what is kept. */
  async #survey(): Promise<SeenFile[]> {
    const files = await this.#deps.list().catch(nothingIfUnreadable);
    this.#dir.noteLogBytes(files.reduce((sum, { size }) => sum + size, 0));
    await this.#dir.refresh();
    // The limit may be lower than it was. Logs that are missing are perhaps only not mounted.
    if (files.length > 0) await this.#dir.trim();
    return files;
  }
}
