import { createHash, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import type { BlockIndexes } from '../block-index/block-index.ts';
import { SummaryStore } from '../block-index/summary-store.ts';
import type { SeenFile } from '../read/list.ts';
import type { Scrubbing, ScrubRules } from '../scrub/scrubber.ts';
import { KEPT, Shared } from '../shared.ts';
import { FileTextIndexes } from '../text-index/file-text-indexes.ts';
import { IndexBuilder, type IndexBuilderDeps } from '../text-index/index-builder.ts';
import { nothingIfUnreadable } from './dir-watch.ts';
import { IndexDir, type IndexDirOptions, type IndexDirUsage } from './index-dir.ts';
import { IndexKeeper } from './index-keeper.ts';

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

/** Changes with every change of what the files contain or mean. */
const VERSION = 1;

/**
 * The names of files depend on the masked secrets. They are kept as a slow, salted hash, so that who gets hold of the
 * directory cannot guess them at the speed of a plain one. Takes some milliseconds.
 */
const ROUNDS = 10_000;
const FINGERPRINT_BYTES = 16;

const derive = promisify(pbkdf2);

/** What is kept: summaries of blocks, or which grams they contain. */
type IndexKind = 'blocks' | 'text';

/** Names files by what their content depends on: the same in another process with the same rules. */
export class IndexKeys {
  readonly #dir: IndexDir;
  readonly #version: string;
  readonly #scrubbing: Scrubbing;
  #fingerprint: { id: string; value: Shared<string | undefined> } | undefined;

  constructor(dir: IndexDir, { version, scrubbing }: { version: string; scrubbing: Scrubbing }) {
    this.#dir = dir;
    this.#version = `${VERSION}:${version}:${process.versions.tz ?? ''}`;
    this.#scrubbing = scrubbing;
  }

  /**
   * The name of the file for a text with these properties. `scrubId`: of the rules it is masked by, which must be the
   * current ones; empty: none. `undefined`: it has none, or none yet and `create` is not set.
   */
  async name(
    kind: IndexKind,
    { scrubId, parts, create }: { scrubId: string; parts: readonly (string | number)[]; create: boolean },
  ): Promise<string | undefined> {
    const fingerprint = await this.#rulesFingerprint(scrubId, create);
    if (fingerprint === undefined) return undefined;
    const hash = createHash('sha256').update(JSON.stringify([this.#version, kind, fingerprint, ...parts]));
    return `${hash.digest('hex').slice(0, 32)}.${kind}`;
  }

  async #rulesFingerprint(id: string, create: boolean): Promise<string | undefined> {
    if (id === '') return '';
    const rules = this.#scrubbing.current?.rules;
    if (rules?.id !== id) return undefined;
    if (this.#fingerprint?.id !== id) this.#fingerprint = { id, value: new Shared(KEPT) };
    const value = await this.#fingerprint.value.run(() => this.#derive(rules, create));
    if (value === undefined && this.#fingerprint?.id === id) this.#fingerprint = undefined;
    return value;
  }

  async #derive({ table, patterns }: ScrubRules, create: boolean): Promise<string | undefined> {
    if (!table) return JSON.stringify(patterns);
    const salt = await this.#dir.salt({ create });
    if (!salt) return undefined;
    const secrets = Buffer.concat([
      Buffer.from(`${JSON.stringify(patterns)}${table.starts.join()}:`),
      Buffer.from(table.bytes),
    ]);
    return (await derive(secrets, salt, ROUNDS, FINGERPRINT_BYTES, 'sha256')).toString('hex');
  }
}
