import { setTimeout as delay } from 'node:timers/promises';
import { BlockIndexes } from './block-index/block-index.ts';
import { DirStamp } from './file/file-stamp.ts';
import type { HandleCache } from './file/handle-cache.ts';
import type { LogHandle } from './file/log-handle.ts';
import type { SharedReads } from './file/shared-reads.ts';
import type { TextSource } from './file/text-source.ts';
import { followDespite } from './follow/follow-despite.ts';
import { FollowHub } from './follow/follow-hub.ts';
import { followLimit } from './follow/follow-limit.ts';
import { LogError } from './log-error.ts';
import { FormatSet } from './parse/format-set.ts';
import type { UserFormat } from './parse/user-format.ts';
import type { Zone } from './parse/zone.ts';
import type { SeenFile } from './read/list.ts';
import { CancelFlag } from './scan/cancel-flag.ts';
import type { DescribeResult, StatResult } from './scan/jobs.ts';
import { matchRegex } from './scan/match-regex.ts';
import { WorkerPool } from './scan/worker-pool.ts';
import type { Scrubbing } from './scrub/scrubbing.ts';
import { digest } from './search/digest.ts';
import { findMissingDir } from './search/files/missing-dir.ts';
import { leaveOutUntimed, type OpenFamily, openFamily, releaseFamily } from './search/files/open-family.ts';
import { FileOpener } from './search/files/open-file.ts';
import { packedText } from './search/files/packed-text.ts';
import { haveSameFiles, selectFamilies, withinLimit } from './search/files/selected-families.ts';
import { histogram } from './search/histogram.ts';
import { ScanContext } from './search/scan-context.ts';
import { searchLines } from './search/search.ts';
import type { SearchOptions } from './search/stop-reason.ts';
import type {
  Digest,
  DigestQuery,
  FileProblem,
  FollowItem,
  FollowQuery,
  Histogram,
  HistogramQuery,
  LogSelection,
  ReadOptions,
  RecordFilter,
  SearchItem,
  SearchQuery,
} from './types.ts';

/** Attempts to open the files of a family while they are being renamed; after that the last set opened is used. */
const MAX_ATTEMPTS = 10;

/** Delay between attempts, multiplied by their number: a rotation takes a few milliseconds. */
const ATTEMPT_MS = 2;

export interface EngineOptions {
  /** Formats tried before the built-in ones; valid, as `parseUserFormats` returns them. */
  formats?: readonly UserFormat[];
  /** Number of scanning threads. */
  workers?: number;
  /** The calling thread also scans, before any worker thread is started: for programs that do nothing else. */
  scansHere?: boolean;
  /** Threads shared with other directories, instead of `workers` of its own. Closed by their creator. */
  threads?: WorkerPool;
  /** Maximum number of concurrent searches; more are rejected. */
  maxQueued?: number;
  /** Memory limit of the block indexes. */
  maxIndexBytes?: number;
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
  /** Whether all files are directly in the directory. */
  isFlat?: boolean;
  /** Why some of the selected logs are missing or incomplete. */
  problems?(selection: LogSelection): readonly FileProblem[];
  /** Opens a file by name; the error for an unknown name includes a suggestion. */
  acquire(name: string): Promise<LogHandle>;
}

/** Resources in use: exported as metrics and checked by the leak tests. */
export interface EngineUsage {
  /** Scanning threads, and jobs running or queued on them. */
  threads: number;
  jobs: number;
  /** Threads replaced so far because they died or did not stop when requested. */
  replacedThreads: number;
  /** Searches, histograms and digests in progress. */
  searches: number;
  indexBytes: number;
  /** Logs being followed, and directory watchers. */
  readers: number;
  watchers: number;
}

type Selection = LogSelection & Pick<RecordFilter, 'fromMs'>;

/** Runs queries on a directory of logs. Loaded with the first query, so an idle node does not pay for it. */
export class LogEngine {
  readonly #deps: EngineDeps;
  readonly #opener: FileOpener;
  readonly #scanContext: ScanContext;
  readonly #hub: FollowHub;
  readonly #maxQueued: number;
  readonly #ownsThreads: boolean;
  #searching = 0;

  constructor(deps: EngineDeps, options: EngineOptions = {}) {
    const { workers = 2, scansHere = false, maxQueued = 64, maxIndexBytes = 16 * 1024 ** 2 } = options;
    this.#deps = deps;
    const formats = new FormatSet(options.formats);
    this.#opener = new FileOpener({ ...deps, formats });
    this.#maxQueued = maxQueued;
    this.#ownsThreads = options.threads === undefined;
    const pool = options.threads ?? new WorkerPool(workers, { scansHere });
    const scrubber = () => deps.scrubbing.current;
    this.#scanContext = new ScanContext({ ...deps, pool, indexes: new BlockIndexes(maxIndexBytes), formats, scrubber });
    this.#hub = new FollowHub({
      ...deps,
      formats,
      limit: followLimit({ maxLogs: options.followLogs, reservedFiles: options.reservedFiles }),
      isTimed: (target, files) => this.#isTimed(target.name, files),
      search: (query, searchOptions) => this.search(query, searchOptions),
      matchRegex: (filter, texts, searchOptions) => matchRegex(pool, { filter, texts }, searchOptions),
      ...(options.pollMs !== undefined && { pollMs: options.pollMs }),
      ...(options.followBytes !== undefined && { bufferBytes: options.followBytes }),
    });
  }

  get usage(): EngineUsage {
    const { readers, watchers } = this.#hub.usage;
    const { pool, indexes } = this.#scanContext;
    return { ...pool.usage, indexBytes: indexes.costBytes, searches: this.#searching, readers, watchers };
  }

  async *search(query: SearchQuery, options: SearchOptions): AsyncGenerator<SearchItem[], void, undefined> {
    for await (const lines of this.searchLines(query, options)) yield parseLines(lines);
  }

  async *searchLines(query: SearchQuery, options: SearchOptions): AsyncGenerator<Buffer, void, undefined> {
    const done = this.#begin();
    try {
      yield* searchLines(this.#scanContext, await this.#open(query, options), query, options);
    } finally {
      done();
    }
  }

  async histogram(query: HistogramQuery, options: SearchOptions): Promise<Histogram> {
    const done = this.#begin();
    try {
      return await histogram(this.#scanContext, await this.#open(query, options), query, options);
    } finally {
      done();
    }
  }

  async digest(query: DigestQuery, options: SearchOptions): Promise<Digest> {
    const done = this.#begin();
    try {
      return await digest(this.#scanContext, await this.#open(query, options), query, options);
    } finally {
      done();
    }
  }

  follow(query: FollowQuery, options: ReadOptions): AsyncGenerator<FollowItem[], void, undefined> {
    return followDespite(this.#deps.problems?.(query) ?? [], query, this.#hub.follow(query, options));
  }

  /** Whether one of the files of the log has timestamps near its start: the live one may have just been rotated. */
  async #isTimed(live: string, files: readonly string[]): Promise<boolean> {
    const others = files.filter((name) => name !== live).toReversed();
    for (const name of [live, ...others]) if (await this.#hasTimes(name)) return true;
    return false;
  }

  /** False for a file that cannot be read. */
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

  /** Ends all follows and searches. */
  async close(): Promise<void> {
    await this.#hub.close();
    if (this.#ownsThreads) await this.#scanContext.pool.close();
  }

  #begin(): () => void {
    if (this.#searching >= this.#maxQueued) {
      throw new LogError(
        'TOO_MANY_SEARCHES',
        `${this.#searching} searches are already running, the limit set by search.max-queued; retry later`,
      );
    }
    this.#searching++;
    return () => {
      this.#searching--;
    };
  }

  /** Files are renamed one after the other during a rotation: opening them by name may miss one. */
  async #open(selection: Selection, options: SearchOptions): Promise<OpenFamily[]> {
    if (selection.file !== undefined) return this.#openListed([], selection, options);
    for (let attempt = 1; ; attempt++) {
      const quiet = await DirStamp.take(this.#deps.dir);
      const seen = await this.#deps.list(selection.family);
      const opened = await this.#openListed(seen, selection, options);
      // The directories below are not watched: they are listed again.
      const isQuiet = (this.#deps.isFlat ?? true) && (await quiet.isSame());
      if (attempt === MAX_ATTEMPTS || options.signal?.aborted || isQuiet) return opened;
      try {
        const family = selection.family;
        if (await haveSameFiles(seen, await this.#deps.list(family), family)) return opened;
      } catch (error) {
        opened.forEach(releaseFamily);
        throw error;
      }
      opened.forEach(releaseFamily);
      await delay(ATTEMPT_MS * (attempt - 1));
    }
  }

  async #openListed(seen: readonly SeenFile[], selection: Selection, options: SearchOptions): Promise<OpenFamily[]> {
    const { file } = selection;
    // Before the files are opened: a log that catches up meanwhile is longer than what is read of it.
    const problems = this.#deps.problems?.(selection) ?? [];
    // A family omits files that no longer exist; a file requested by name must exist.
    if (file !== undefined) (await this.#deps.acquire(file)).release();
    const families = file === undefined ? await selectFamilies(seen, selection) : [{ name: file, files: [file] }];
    const { within, problem } = withinLimit(families);
    // A missing directory has no records, which must not look like a quiet one.
    const missing = families.length === 0 ? await findMissingDir(this.#deps.dir) : undefined;
    const opened: OpenFamily[] = missing ? [{ name: '', files: [], duplicates: [], problems: [missing] }] : [];
    try {
      const isAll = file === undefined && selection.family === undefined;
      for (const family of within) {
        const all = await openFamily(this.#opener, family, options);
        opened.push(isAll ? leaveOutUntimed(all) : all);
      }
    } catch (error) {
      opened.forEach(releaseFamily);
      // Cancelled while files were being opened: ends like a search cancelled later, with nothing scanned.
      if (options.signal?.aborted && !(error instanceof LogError)) return [];
      throw error;
    }
    // Nothing to read and something wrong must not look like quiet logs.
    if (problems.length > 0 && opened.length === 0) opened.push({ name: '', files: [], duplicates: [], problems: [] });
    opened[0]?.problems.push(...(problem ? [problem] : []), ...problems);
    return opened;
  }
}

function parseLines(lines: Buffer): SearchItem[] {
  const texts = lines.toString().split('\n').slice(0, -1);
  return texts.map((text) => JSON.parse(text) as SearchItem);
}
