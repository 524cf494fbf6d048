import { type RecordBatch, toItems } from '@porthole/records';
import { BlockIndexes } from './block-index/block-index.ts';
import type { LiveLimits } from './block-index/live-texts.ts';
import { CancelFlag } from './cancel-flag.ts';
import { DiskIndex } from './disk-index/disk-index.ts';
import { type EngineUsage, NO_DISK_INDEX } from './engine-usage.ts';
import type { HandleCache, LogHandle } from './file/handle-cache.ts';
import type { IndexDirOptions } from './file/index-dir.ts';
import type { SharedReads } from './file/shared-reads.ts';
import type { TextSource } from './file/unpack.ts';
import type { CountingOptions } from './follow/follow-hub.ts';
import { followLimit, LazyFollowHub, reportUnavailable } from './follow/lazy-follow-hub.ts';
import { LogError } from './log-error.ts';
import { FormatSet } from './parse/detect-format.ts';
import type { UserFormat } from './parse/user-format.ts';
import type { Zone } from './parse/zone.ts';
import { familySource } from './query/log-sources.ts';
import type { DescribeResult } from './read/describe-files.ts';
import type { SeenFile } from './read/list.ts';
import type { StatResult } from './read/stat-entries.ts';
import type { TextIndexStore } from './scan/index-jobs.ts';
import { WorkerPool } from './scan/worker-pool.ts';
import type { Scrubbing } from './scrub/scrubber.ts';
import { digest } from './search/digest.ts';
import { type FieldsOptions, fields } from './search/fields.ts';
import { type FileHead, readHeads } from './search/files/file-heads.ts';
import { type DeletedRecords, type OpenFamily, releaseFamily } from './search/files/open-family.ts';
import { FileOpener } from './search/files/open-file.ts';
import { type OpenDeps, openSelected, type Selection } from './search/files/selected-families.ts';
import { histogram } from './search/histogram.ts';
import { matchRegex } from './search/match-regex.ts';
import { packedText } from './search/packed-text.ts';
import { ScanContext } from './search/scan-context.ts';
import { search } from './search/search.ts';
import { type SearchLimits, SearchSlots } from './search/search-slots.ts';
import type { SearchOptions } from './search/stop-reason.ts';
import { type TopOptions, top } from './search/top.ts';
import { type IndexedText, type IndexOptions, indexText } from './text-index/index-text.ts';
import type {
  Digest,
  DigestQuery,
  Fields,
  FieldsQuery,
  FileProblem,
  FollowItem,
  FollowQuery,
  Histogram,
  HistogramQuery,
  LogSelection,
  ReadOptions,
  SearchEnd,
  SearchQuery,
  Top,
  TopQuery,
} from './types.ts';

export interface EngineOptions extends SearchLimits {
  /** Formats tried before the built-in ones; valid, as `parseUserFormats` returns them. */
  formats?: readonly UserFormat[];
  /** Number of scanning threads. */
  workers?: number;
  /** The calling thread also scans, before any worker thread is started: for programs that do nothing else. */
  scansHere?: boolean;
  /** Threads shared with other directories, instead of `workers` of its own. Closed by their creator. */
  threads?: WorkerPool;
  /** Memory limit of the block indexes. */
  maxIndexBytes?: number;
  /** Where indexes are kept for the next process. Absent: nowhere. */
  indexDir?: IndexDirOptions;
  /** Keeps what is known of the texts of files, for searches for a text; absent: every block is read. */
  textIndex?: TextIndexStore;
  /** Limits of what is indexed of files that are being written. */
  live?: LiveLimits;
  /** Bytes of text of each followed log buffered for slow consumers. */
  followBytes?: number;
  /** Maximum number of logs followed at the same time, and descriptors of the process reserved for other uses. */
  followLogs?: number;
  reservedFiles?: number;
  /** Poll interval of followed files, in case no file system event reports a change. */
  pollMs?: number;
}

export interface EngineDeps {
  dir: string;
  handles: HandleCache;
  reads: SharedReads;
  scrubbing: Scrubbing;
  zone: Zone;
  /** Lists all files; with `family`, at least the files of that family. */
  list(family?: string): Promise<SeenFile[]>;
  /** Whether a listing of all files would have the same ones again, of whatever sizes. */
  isCurrent(files: readonly SeenFile[]): boolean;
  /** Whether all files are directly in the directory. */
  isFlat?: boolean;
  /** Why some of the selected logs are missing or incomplete. */
  problems?(selection: LogSelection): readonly FileProblem[];
  /** What of the selected logs and time range is no longer on disk. */
  deleted?(selection: Selection): readonly DeletedRecords[];
  /** Opens a file by name; the error for an unknown name includes a suggestion. */
  acquire(name: string): Promise<LogHandle>;
}

/** Runs queries on a directory of logs. Loaded with the first query, so an idle node does not pay for it. */
export class LogEngine {
  readonly prepare: () => Promise<void>;
  readonly #deps: EngineDeps;
  readonly #opener: FileOpener;
  readonly #openDeps: OpenDeps;
  readonly #scanContext: ScanContext;
  /** What is kept on disk; absent: nothing. */
  readonly disk: DiskIndex | undefined;
  readonly #hub: LazyFollowHub;
  readonly #slots: SearchSlots;
  readonly #ownsThreads: boolean;

  constructor(deps: EngineDeps, options: EngineOptions = {}) {
    const { workers = 2, scansHere = false, maxIndexBytes = 16 * 1024 ** 2 } = options;
    this.#deps = deps;
    const formats = new FormatSet(options.formats);
    this.#opener = new FileOpener({ ...deps, formats });
    this.#openDeps = { ...deps, opener: this.#opener };
    this.#slots = new SearchSlots(options);
    this.#ownsThreads = options.threads === undefined;
    const pool = options.threads ?? new WorkerPool(workers, { scansHere });
    this.prepare = () => pool.prepare();
    const scrubber = () => deps.scrubbing.current;
    const indexes = new BlockIndexes(maxIndexBytes);
    const { indexDir, textIndex, live } = options;
    this.disk = indexDir && new DiskIndex(indexDir, { ...deps, indexes, indexText: this.indexText.bind(this) });
    const { summaries } = this.disk ?? {};
    const kept = { summaries, textIndex: textIndex ?? this.disk?.textIndex };
    this.#scanContext = new ScanContext({ ...deps, pool, indexes, formats, scrubber, live, ...kept });
    this.#hub = new LazyFollowHub({
      ...deps,
      formats,
      limit: followLimit({ maxLogs: options.followLogs, reservedFiles: options.reservedFiles }),
      isTimed: (target, files) => this.#isTimed(target.name, files),
      isText: (target) => this.#isText(target.name),
      search: (query, searchOptions) => toItems(this.search(query, searchOptions)),
      matchRegex: (filter, texts, searchOptions) => matchRegex(pool, { filter, texts }, searchOptions),
      ...(options.pollMs !== undefined && { pollMs: options.pollMs }),
      ...(options.followBytes !== undefined && { bufferBytes: options.followBytes }),
    });
  }

  get usage(): EngineUsage {
    const { readers, watchers } = this.#hub.usage;
    const { pool, indexes } = this.#scanContext;
    const diskIndex = this.disk?.usage ?? NO_DISK_INDEX;
    return { ...pool.usage, indexBytes: indexes.costBytes, diskIndex, searches: this.#slots.taken, readers, watchers };
  }

  async *search(query: SearchQuery, options: SearchOptions): AsyncGenerator<RecordBatch | SearchEnd, void, undefined> {
    if (options.asText && (query.before > 0 || query.after > 0))
      throw new RangeError('text is searched without context');
    const done = this.#begin(options);
    try {
      yield* search(this.#scanContext, await this.#open(query, options), query, options);
    } finally {
      done();
    }
  }

  histogram(query: HistogramQuery, options: SearchOptions): Promise<Histogram> {
    return this.#count(histogram, query, options);
  }

  digest(query: DigestQuery, options: SearchOptions): Promise<Digest> {
    return this.#count(digest, query, options);
  }

  top(query: TopQuery, options: TopOptions): Promise<Top> {
    return this.#count(top, query, options);
  }

  fields(query: FieldsQuery, options: FieldsOptions): Promise<Fields> {
    return this.#count(fields, query, options);
  }

  follow(query: FollowQuery, options: CountingOptions): AsyncGenerator<FollowItem[], void, undefined> {
    return reportUnavailable(this.#deps.problems?.(query) ?? [], query, this.#hub.follow(query, options));
  }

  /** Whether one of the files of the log has timestamps near its start: the live one may have just been rotated. */
  async #isTimed(live: string, files: readonly string[]): Promise<boolean> {
    const others = files.filter((name) => name !== live).toReversed();
    for (const name of [live, ...others]) if (await this.#hasTimes(name)) return true;
    return false;
  }

  async #hasTimes(name: string): Promise<boolean> {
    try {
      const { handle, timed, firstMs } = await this.#opener.open(name);
      handle.release();
      return timed || firstMs !== null;
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      return false;
    }
  }

  /** Whether it is a text without timestamps, as far as its start shows; an empty file may become one. */
  async #isText(name: string): Promise<boolean> {
    try {
      const { handle, head, firstBytes } = await this.#opener.open(name);
      handle.release();
      return !head.includes(0) && (head.length > 0 || firstBytes.length === 0);
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      return false;
    }
  }

  /** Types and stats of these directory entries. */
  stat(names: readonly string[]): Promise<StatResult> {
    return this.#scanContext.pool.run({ kind: 'stat', dir: this.#deps.dir, names });
  }

  /** Format and time range of these files, read from both ends. */
  describe(names: readonly string[]): Promise<DescribeResult> {
    const { pool, zone, formats } = this.#scanContext;
    const flag = new CancelFlag();
    // There may be hundreds of these: searches queued before them go first.
    flag.isSlow = true;
    const job = { dir: this.#deps.dir, names, zone: zone.id, formats: formats.forThread() };
    return pool.run({ kind: 'describe', ...job }, flag);
  }

  /** The text of a compressed file, readable at any offset. The caller releases the handle. */
  async openText(name: string, options: ReadOptions): Promise<{ handle: LogHandle; text: TextSource }> {
    (await this.#deps.acquire(name)).release();
    const file = await this.#opener.open(name, options);
    try {
      return { handle: file.handle, text: await packedText(this.#scanContext, file, options) };
    } catch (error) {
      file.handle.release();
      throw error;
    }
  }

  /** The heads of the files of a log, oldest first. */
  async heads(family: string, options: ReadOptions): Promise<FileHead[]> {
    const families = await openSelected(this.#openDeps, { src: [familySource(family)] }, options);
    try {
      const heads = await Promise.all(families.map((opened) => readHeads(opened, this.#deps.reads, options)));
      return heads.flat();
    } finally {
      families.forEach(releaseFamily);
    }
  }

  /** Adds what is missing of a file to the text index. */
  indexText(name: string, options: IndexOptions): Promise<IndexedText> {
    return indexText({ opener: this.#opener, scanContext: this.#scanContext }, name, options);
  }

  /** Ends all follows and searches. */
  async close(): Promise<void> {
    await this.#hub.close();
    await this.disk?.close();
    if (this.#ownsThreads) await this.#scanContext.pool.close();
  }

  #begin({ client }: ReadOptions): () => void {
    const release = this.#slots.take(client);
    this.disk?.keeper.noteStart();
    return () => {
      release();
      this.disk?.keeper.noteEnd();
    };
  }

  async #open(query: Selection, options: SearchOptions): Promise<OpenFamily[]> {
    const families = await openSelected(this.#openDeps, query, options);
    try {
      await this.#scanContext.loadIndexes(families);
    } catch (error) {
      families.forEach(releaseFamily);
      throw error;
    }
    return families;
  }

  async #count<Q extends Selection, O extends SearchOptions, R>(
    count: (scanContext: ScanContext, families: readonly OpenFamily[], query: Q, options: O) => Promise<R>,
    query: Q,
    options: O,
  ): Promise<R> {
    const done = this.#begin(options);
    try {
      return await count(this.#scanContext, await this.#open(query, options), query, options);
    } finally {
      done();
    }
  }
}
