import { type RecordBatch, toItems } from '@porthole/records';
import { type IndexWatch, type WatchTimes, watchForIndex } from './disk-index/index-watch.ts';
import type { EngineOptions, LogEngine } from './engine.ts';
import { type EngineUsage, NO_ENGINE } from './engine-usage.ts';
import { findDecoder, isPackedName, refuseUndecoded } from './file/compression.ts';
import { sourceNotFound } from './file/families.ts';
import { HandleCache, type LogHandle } from './file/handle-cache.ts';
import { createHiddenNames } from './file/hidden-names.ts';
import { assertSafeName } from './file/open-inside.ts';
import type { RangeSource } from './file/read-range.ts';
import { SharedReads } from './file/shared-reads.ts';
import { FLAT, type LogTree } from './file/tree.ts';
import { LogError } from './log-error.ts';
import { readEncoding } from './packed/utf16.ts';
import { createZone, type Zone } from './parse/zone.ts';
import { LogSources } from './query/log-sources.ts';
import { DirListing } from './read/dir-listing.ts';
import { FileDetails } from './read/file-details.ts';
import type { SeenFile } from './read/list.ts';
import { PackedSecrets } from './read/packed-secrets.ts';
import { openLog, readLastTime, tail } from './read/tail.ts';
import { Scrubbing } from './scrub/scrubber.ts';
import type { FieldsOptions } from './search/fields.ts';
import type { FileHead } from './search/files/file-heads.ts';
import type { DeletedRecords } from './search/files/open-family.ts';
import type { Selection } from './search/files/selected-families.ts';
import type { SearchOptions } from './search/stop-reason.ts';
import type { TopOptions } from './search/top.ts';
import { ONCE, Shared } from './shared.ts';
import type { IndexedText, IndexOptions } from './text-index/index-text.ts';
import type {
  ByteStream,
  CountedItem,
  Digest,
  DigestQuery,
  Fields,
  FieldsQuery,
  FileProblem,
  FollowItem,
  FollowQuery,
  FollowReadOptions,
  Histogram,
  HistogramQuery,
  LogEntry,
  LogFileDetails,
  LogSelection,
  OpenLog,
  ReadOptions,
  SearchEnd,
  SearchQuery,
  Top,
  TopQuery,
} from './types.ts';

/** The entry point to a directory of logs. Nothing outside the directory is ever read through it. */
export class LogDir {
  readonly path: string;
  readonly #zone: Zone;
  readonly #tree: LogTree;
  readonly #isHidden: (name: string) => boolean;
  readonly #handles: HandleCache;
  readonly #scrubbing: Scrubbing;
  readonly #reads: SharedReads;
  readonly #packed = new PackedSecrets();
  readonly #listing: DirListing;
  readonly #details: FileDetails;
  /** By the listing they were made from. */
  readonly #lists = new WeakMap<readonly object[], LogEntry[]>();

  readonly #options: LogDirOptions;
  readonly #engine = new Shared<LogEngine>(ONCE);
  #started: LogEngine | undefined;
  #watch: IndexWatch | undefined;

  constructor(path: string, options: LogDirOptions = {}) {
    const { zone = createZone(), hidden = [], scrubbing = new Scrubbing(), tree = FLAT } = options;
    this.#tree = tree;
    this.path = path;
    this.#options = options;
    this.#zone = zone;
    this.#scrubbing = scrubbing;
    this.#reads = new SharedReads(() => scrubbing.current);
    this.#isHidden = createHiddenNames(hidden);
    const statMany = async (names: readonly string[]) => (await this.#loadEngine()).stat(names);
    this.#listing = new DirListing(path, { isHidden: this.#isHidden, tree, statMany });
    this.#handles = new HandleCache(path, this.#isHidden, tree);
    this.#details = new FileDetails({
      list: () => this.#listing.all(),
      families: (names) => this.#listing.families.of(names),
      describe: async (name) => {
        const { summarizeFile } = await import('./read/summarize-file.ts');
        return summarizeFile(name, { handles: this.#handles, reads: this.#reads, zone, formats: options.formats });
      },
      describeMany: async (names) => (await this.#loadEngine()).describe(names),
      lastTime: (name) => readLastTime((query) => toItems(this.search(query)), name),
    });
  }

  /** Resources in use, checked by the leak tests. */
  get usage(): EngineUsage & { openFiles: number; lentBuffers: number } {
    const engine = this.#started?.usage ?? NO_ENGINE;
    return { openFiles: this.#handles.openCount, lentBuffers: this.#reads.lentBuffers, ...engine };
  }

  /** The files directly in the directory. Concurrent calls get the same list: it must not be changed. */
  async list(): Promise<LogEntry[]> {
    const files = await this.#listing.all();
    const known = this.#lists.get(files);
    if (known) return known;
    const isBelow = (name: string) => name.includes('/');
    const direct = files.some(({ name }) => isBelow(name)) ? files.filter(({ name }) => !isBelow(name)) : files;
    const list = direct.map(({ name, size }) => ({ name, size }));
    this.#lists.set(files, list);
    return list;
  }

  /**
   * The listing with format and time range, read from both ends of each file. A file that cannot be read has a
   * `problem`. A single file that is selected by name has what its lines are read as.
   */
  async details({
    signal,
    src,
  }: ReadOptions & { src?: readonly string[] | undefined } = {}): Promise<LogFileDetails[]> {
    signal?.throwIfAborted();
    const logs = new LogSources(src);
    const file = logs.only?.kind === 'file' ? logs.only.name : undefined;
    if (file !== undefined) (await this.#acquire(file)).release();
    const all = await this.#details.all();
    const found = all.filter(({ name, family }) => logs.hasFile(name, family));
    const [first] = logs.list;
    if (found.length === 0 && first && file === undefined)
      throw sourceNotFound(first, [...new Set(all.map(({ family }) => family))]);
    if (file === undefined) return found;
    const { learnFile } = await import('./read/summarize-file.ts');
    const deps = { handles: this.#handles, reads: this.#reads, zone: this.#zone, formats: this.#options.formats };
    const learned = found.every(({ problem }) => problem === null) ? await learnFile(file, deps) : undefined;
    return found.map((details) => ({ ...details, ...(learned && { learned }) }));
  }

  /** The last `size` bytes of the text of a file directly in the directory, cut to whole lines. The caller closes it. */
  async tail(name: string, size: number, options: ReadOptions = {}): Promise<ByteStream> {
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`size must be a positive integer, not ${size}`);
    assertSafeName(name);
    const file = findDecoder(name) === undefined && (await this.#acquireUndecoded(name, size));
    if (file) return tail(file, size, options);
    // Decoding takes longer than gunzipping, which does not occupy this thread.
    const { handle, text } = await (await this.#loadEngine()).openText(name, options);
    return tail({ handle, reads: this.#reads }, size, { signal: options.signal, text });
  }

  /**
   * A file as it is on disk, except for masked secrets. The caller closes it. A compressed file whose text contains
   * secrets is refused: they cannot be masked in it. With `text`, it is opened as its uncompressed text in UTF-8,
   * which the offsets of its records refer to; one of a compression that is not read is refused.
   */
  async open(name: string, { text = false, ...options }: ReadOptions & { text?: boolean } = {}): Promise<OpenLog> {
    if (text && (isPackedName(name) || (await this.#isUtf16(name)))) {
      const packed = await (await this.#loadEngine()).openText(name, options);
      return openLog({ handle: packed.handle, reads: this.#reads }, packed.text);
    }
    const file = { handle: await this.#acquire(name), reads: this.#reads };
    try {
      if (text) refuseUndecoded(file.handle);
      await this.#packed.refuse(file, options);
    } catch (error) {
      file.handle.release();
      throw error;
    }
    return openLog(file);
  }

  /** Matching records in batches, an empty one first, and the end. */
  async *search(
    query: SearchQuery,
    options: SearchOptions = {},
  ): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
    yield* (await this.#loadEngine()).search(query, options);
  }

  async histogram(query: HistogramQuery, options: SearchOptions = {}): Promise<Histogram> {
    return (await this.#loadEngine()).histogram(query, options);
  }

  async digest(query: DigestQuery, options: SearchOptions = {}): Promise<Digest> {
    return (await this.#loadEngine()).digest(query, options);
  }

  /** Counts by value of a field, in bounded memory: see docs/adr/0030-counts-in-bounded-memory.md. */
  async top(query: TopQuery, options: TopOptions = {}): Promise<Top> {
    return (await this.#loadEngine()).top(query, options);
  }

  /** The fields of records; of a large range, those of a sample. */
  async fields(query: FieldsQuery, options: FieldsOptions = {}): Promise<Fields> {
    return (await this.#loadEngine()).fields(query, options);
  }

  /** What identifies the files of a log whatever their names, oldest first. Unmasked: not for responses. */
  async heads(family: string, options: ReadOptions = {}): Promise<FileHead[]> {
    return (await this.#loadEngine()).heads(family, options);
  }

  /** Adds what is missing of a file to the text index: see docs/adr/0006-blocks-and-their-index.md. */
  async indexText(name: string, options: IndexOptions = {}): Promise<IndexedText> {
    return (await this.#loadEngine()).indexText(name, options);
  }

  /** New records as they are written, batch by batch, until the signal aborts. The first batch is empty. */
  async *follow(query: FollowQuery, options: FollowReadOptions = {}): AsyncGenerator<FollowItem[], void, undefined> {
    yield* (await this.#loadEngine()).follow(query, options);
  }

  /**
   * The same for whoever counts: each batch is of one log and begins with how many of its records do not match, which are
   * not decoded. Logs are read a few times a second instead of at every write, which takes a tenth of the time.
   */
  async *followCounts(
    query: FollowQuery,
    options: FollowReadOptions = {},
  ): AsyncGenerator<CountedItem[], void, undefined> {
    yield* (await this.#loadEngine()).follow(query, { ...options, counts: true });
  }

  /** From now on, files are indexed in the background, if there is a directory to keep the index in. */
  startIndexing(times?: WatchTimes): void {
    const { indexDir } = this.#options;
    if (!indexDir) return;
    const load = async () => (await this.#loadEngine()).disk;
    const onError = (error: unknown) => indexDir.onProblem?.(String(error));
    const deps = { path: this.path, isFlat: this.#isFlat, list: () => this.#listing.all(), load, onError };
    this.#watch ??= watchForIndex({ ...deps, loaded: () => this.#started?.disk }, times);
  }

  /** Loads the engine and starts one of its threads, so that a search soon after need not wait for them. */
  readonly prepare = async (): Promise<void> => (await this.#loadEngine()).prepare();

  /** Closes open files. Running tails end by themselves, searches are aborted. */
  async close(): Promise<void> {
    await this.#watch?.close();
    this.#details.close();
    this.#handles.close();
    await (await this.#engine.last())?.close();
  }

  get #isFlat(): boolean {
    return this.#tree.depth === 0 && !this.#tree.mounts;
  }

  /** The engine is a third of the code: it is loaded with the first query. */
  #loadEngine(): Promise<LogEngine> {
    return this.#engine.run(async () => {
      const { LogEngine } = await import('./engine.ts');
      const deps = {
        dir: this.path,
        handles: this.#handles,
        reads: this.#reads,
        scrubbing: this.#scrubbing,
        zone: this.#zone,
        list: (family?: string) => (family === undefined ? this.#listing.all() : this.#listing.ofFamily(family)),
        isCurrent: (files: readonly SeenFile[]) => this.#listing.isCurrent(files),
        isFlat: this.#isFlat,
        problems: (selection: LogSelection) => this.#problems(selection),
        ...(this.#options.deleted && { deleted: this.#options.deleted }),
        acquire: (name: string) => this.#acquire(name),
      };
      this.#started = new LogEngine(deps, this.#options);
      return this.#started;
    });
  }

  /** What the last listing could not list, and why logs of mounts are missing or incomplete. */
  #problems({ src }: LogSelection): readonly FileProblem[] {
    const { mounts = [] } = this.#tree;
    const logs = new LogSources(src);
    const ofMounts = mounts.flatMap((mount) => mount.problems());
    const selected = ofMounts.filter(({ file }) => logs.hasFile(file, file));
    // A directory that cannot be listed may have logs that match.
    return logs.isAll || logs.hasPatterns ? [...this.#listing.problems, ...selected] : selected;
  }

  /**
   * A file whose bytes are returned as they are. Those of UTF-16 are not if secrets are masked, which are only found in
   * UTF-8. A file with a kept tail is not UTF-16: it has not changed since.
   */
  async #acquireUndecoded(name: string, size: number): Promise<RangeSource | undefined> {
    const handle = await this.#acquire(name);
    const { scrubber, tails } = this.#reads;
    try {
      const isKnown = !scrubber || tails.find({ handle, size, scrubberId: scrubber.id }) !== undefined;
      if (isKnown || (await readEncoding(handle)) === undefined) return { handle, reads: this.#reads };
    } catch (error) {
      handle.release();
      throw error;
    }
    handle.release();
    return undefined;
  }

  async #isUtf16(name: string): Promise<boolean> {
    const handle = await this.#acquire(name);
    try {
      return (await readEncoding(handle)) !== undefined;
    } finally {
      handle.release();
    }
  }

  async #acquire(name: string): Promise<LogHandle> {
    try {
      return await this.#handles.acquire(name);
    } catch (error) {
      if (error instanceof LogError && error.code === 'LOG_FILE_NOT_FOUND') throw await this.#withHint(error, name);
      throw error;
    }
  }

  async #withHint(error: LogError, name: string): Promise<LogError> {
    const names = await this.#listing.findSimilar(name);
    if (names.length === 0) return error;
    const hint = names.map((candidate) => JSON.stringify(candidate)).join(' or ');
    return new LogError(error.code, `${error.message}; did you mean ${hint}?`, { cause: error });
  }
}

export interface LogDirOptions extends EngineOptions {
  /** Time zone of the timestamps in the files. */
  zone?: Zone;
  /** Name patterns, with `*` and `?`, of logs to hide, including their rotated files. */
  hidden?: readonly string[];
  /** Whether files in directories below are logs, too, and where links may lead. */
  tree?: LogTree | undefined;
  /** What of the selected logs and time range is no longer on disk, as far as that is known. */
  deleted?: ((selection: Selection) => readonly DeletedRecords[]) | undefined;
  /** What is masked in the text of the files, before it is returned or searched. */
  scrubbing?: Scrubbing;
}
