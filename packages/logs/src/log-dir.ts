import type { EngineOptions, EngineUsage, LogEngine } from './engine.ts';
import { isSettled, stampOf } from './file/file-stamp.ts';
import { HandleCache } from './file/handle-cache.ts';
import { createHiddenNames } from './file/hidden-names.ts';
import type { LogHandle } from './file/log-handle.ts';
import { SharedLook } from './file/shared-look.ts';
import { SharedReads } from './file/shared-reads.ts';
import { isGzipName } from './file/text-source.ts';
import { LogError } from './log-error.ts';
import { isNear, nearestNames } from './nearest-names.ts';
import { createZone, type Zone } from './parse/zone.ts';
import { listFiles, type SeenFile } from './read/list.ts';
import type { ListedNames } from './read/list-family.ts';
import { openLog } from './read/open-log.ts';
import { PackedSecrets } from './read/packed-secrets.ts';
import { tail } from './read/tail.ts';
import { Scrubbing } from './scrub/scrubbing.ts';
import type { AskOptions } from './search/stop-reason.ts';
import type {
  ByteAnswer,
  Digest,
  DigestQuery,
  FollowItem,
  FollowQuery,
  Histogram,
  HistogramQuery,
  LogEntry,
  LogFileDetails,
  OpenLog,
  ReadOptions,
  SearchItem,
  SearchQuery,
} from './types.ts';

export interface LogDirOptions extends EngineOptions {
  /** Zone of the timestamps in the files. */
  zone?: Zone;
  /** Names, with `*` and `?`, of logs that do not exist for whoever asks: neither they nor their rotated files. */
  hidden?: readonly string[];
  /** What is masked in the text of the files, before anyone sees it or looks for it. */
  scrubbing?: Scrubbing;
}

const NO_ENGINE: EngineUsage = {
  threads: 0,
  jobs: 0,
  replacedThreads: 0,
  questions: 0,
  indexBytes: 0,
  readers: 0,
  watchers: 0,
};

/** Larger compressed files are not unpacked only to tell when they end. */
const MAX_UNPACKED_BYTES = 256 * 1024 ** 2;

/** Records at the end of a file looked at for a time. */
const LAST_RECORDS = 100;

/** What a file tells by itself; the family is told by all names together. */
type OwnDetails = Omit<LogFileDetails, 'family' | 'state'>;

/** The door to a directory of logs. Nothing outside the directory is ever read through it. */
export class LogDir {
  readonly path: string;
  readonly #zone: Zone;
  readonly #isHidden: (name: string) => boolean;
  readonly #handles: HandleCache;
  readonly #scrubbing: Scrubbing;
  readonly #reads: SharedReads;
  readonly #packed = new PackedSecrets();
  /** Simultaneous listings share one; there is only one thing to list. */
  readonly #listings: SharedLook<SeenFile[]>;
  readonly #names: SharedLook<ListedNames>;
  /**
   * Details by name, valid while the file's stamp is the same; `isLasting` where every change shows in it. An archive is
   * written once: what its end tells, which takes long, is not given up for the first seconds.
   */
  readonly #details = new Map<string, { mark: string; details: OwnDetails; isLasting: boolean }>();

  readonly #options: LogDirOptions;
  #findingEnds: Promise<void> = Promise.resolve();
  #closed = false;
  #engine: Promise<LogEngine> | undefined;
  #started: LogEngine | undefined;

  constructor(path: string, options: LogDirOptions = {}) {
    const { zone = createZone(), hidden = [], scrubbing = new Scrubbing() } = options;
    this.path = path;
    this.#options = options;
    this.#zone = zone;
    this.#scrubbing = scrubbing;
    this.#reads = new SharedReads(() => scrubbing.current);
    this.#isHidden = createHiddenNames(hidden);
    this.#handles = new HandleCache(path, this.#isHidden);
    this.#listings = new SharedLook(() => listFiles(path, { isHidden: this.#isHidden }));
    this.#names = new SharedLook(async () => {
      const { listNames } = await import('./read/list-family.ts');
      return listNames(path, { isHidden: this.#isHidden });
    });
  }

  /** Resources in use: what the leak tests watch. */
  get usage(): EngineUsage & { openFiles: number; lentBuffers: number } {
    const engine = this.#started?.usage ?? NO_ENGINE;
    return { openFiles: this.#handles.openCount, lentBuffers: this.#reads.lentBuffers, ...engine };
  }

  async list(): Promise<LogEntry[]> {
    return (await this.#listings.look('')).map(({ name, size }) => ({ name, size }));
  }

  /** The listing with what a look at both ends of each file tells. A file that cannot be read says so in its entry. */
  async details(options: ReadOptions = {}): Promise<LogFileDetails[]> {
    const files = await this.#listings.look('');
    const { groupFamilies } = await import('./file/families.ts');
    const places = new Map<string, Pick<LogFileDetails, 'family' | 'state'>>();
    for (const { name: family, files: members } of groupFamilies(files.map(({ name }) => name))) {
      for (const { name, state } of members) places.set(name, { family, state });
    }
    const answer: LogFileDetails[] = [];
    // One after the other: a directory of thousands of files must not crowd out other requests.
    for (const file of files) {
      const place = places.get(file.name) ?? { family: file.name, state: 'live' };
      answer.push({ ...(await this.#detailsOf(file, options)), ...place });
    }
    const names = new Set(files.map(({ name }) => name));
    for (const name of this.#details.keys()) if (!names.has(name)) this.#details.delete(name);
    return answer;
  }

  /** The last `size` bytes of a file's text, cut to whole lines. The caller closes the answer. */
  async tail(name: string, size: number, options: ReadOptions = {}): Promise<ByteAnswer> {
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`size is a positive whole number, not ${size}`);
    return tail({ handle: await this.#acquire(name), reads: this.#reads }, size, options);
  }

  /**
   * A file as it is on disk, but for masked secrets. The caller closes it. A compressed file in whose text there are
   * secrets is refused: they cannot be masked in it. With `text`, a compressed file is given as its uncompressed text:
   * what the offsets of its records count in.
   */
  async open(name: string, { text = false, ...options }: ReadOptions & { text?: boolean } = {}): Promise<OpenLog> {
    if (text && isGzipName(name)) {
      const packed = await (await this.#loadEngine()).openText(name, options);
      return openLog({ handle: packed.handle, reads: this.#reads }, packed.text);
    }
    const file = { handle: await this.#acquire(name), reads: this.#reads };
    try {
      await this.#packed.refuse(file, options);
    } catch (error) {
      file.handle.release();
      throw error;
    }
    return openLog(file);
  }

  /** Records that match, batch by batch; the last item of the last batch is the end. The first batch is empty. */
  async *search(query: SearchQuery, options: AskOptions = {}): AsyncGenerator<SearchItem[], void, undefined> {
    yield* (await this.#loadEngine()).search(query, options);
  }

  /** The same as lines of JSON, whole lines at a time: for who passes them on without looking into them. */
  async *searchLines(query: SearchQuery, options: AskOptions = {}): AsyncGenerator<Buffer, void, undefined> {
    yield* (await this.#loadEngine()).searchLines(query, options);
  }

  async histogram(query: HistogramQuery, options: AskOptions = {}): Promise<Histogram> {
    return (await this.#loadEngine()).histogram(query, options);
  }

  async digest(query: DigestQuery, options: AskOptions = {}): Promise<Digest> {
    return (await this.#loadEngine()).digest(query, options);
  }

  /** Records as they are written, batch by batch, without end until the signal says so. The first batch is empty. */
  async *follow(query: FollowQuery, options: ReadOptions = {}): AsyncGenerator<FollowItem[], void, undefined> {
    yield* (await this.#loadEngine()).follow(query, options);
  }

  /** Closes what is kept open. Tails under way end by themselves, searches are cut. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#handles.close();
    await (await this.#engine)?.close();
  }

  /** The engine is a third of the code: it is loaded when the first question comes. */
  #loadEngine(): Promise<LogEngine> {
    this.#engine ??= import('./engine.ts').then(({ LogEngine }) => {
      const parts = {
        dir: this.path,
        handles: this.#handles,
        reads: this.#reads,
        scrubbing: this.#scrubbing,
        zone: this.#zone,
        list: (family?: string) => this.#list(family),
        acquire: (name: string) => this.#acquire(name),
      };
      this.#started = new LogEngine(parts, this.#options);
      return this.#started;
    });
    return this.#engine;
  }

  /** Of all files; or of one log, and perhaps of others. */
  async #list(family: string | undefined): Promise<SeenFile[]> {
    if (family === undefined) return this.#listings.look('');
    const names = await this.#names.look('');
    const { listFamily } = await import('./read/list-family.ts');
    return (await listFamily(this.path, family, names, { isHidden: this.#isHidden })) ?? this.#listings.look('');
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
    const near = await listFiles(this.path, {
      wanted: (candidate) => isNear(name, candidate),
      isHidden: this.#isHidden,
    }).catch(() => []);
    const names = nearestNames(
      name,
      near.map((entry) => entry.name),
    );
    if (names.length === 0) return error;
    const hint = names.map((candidate) => JSON.stringify(candidate)).join(' or ');
    return new LogError(error.code, `${error.message}; did you mean ${hint}?`, { cause: error });
  }

  async #detailsOf({ name, size, stats }: SeenFile, { signal }: ReadOptions): Promise<OwnDetails> {
    signal?.throwIfAborted();
    const { dev, ino, mtimeNs: modifiedNs, ctimeNs: changedNs } = stats;
    const file = { dev, ino, sizeBytes: size, modifiedNs, changedNs };
    const mark = stampOf(file);
    const known = this.#details.get(name);
    if (known?.mark === mark && known.isLasting) return known.details;
    const isLasting = isSettled(file) || isGzipName(name);
    const facts = { name, size, modifiedMs: Number(stats.mtimeMs), compressed: isGzipName(name) };
    const details: OwnDetails = { ...facts, ...(await this.#look(name, { signal })) };
    // A failure may pass without the file changing, so it is not remembered.
    if (details.problem === null) {
      this.#details.set(name, { mark, details, isLasting });
      if (details.compressed && size > 0 && size <= MAX_UNPACKED_BYTES) this.#findEndLater(name, mark);
    }
    return details;
  }

  /** The end of a compressed file is looked for in the background, one file at a time: all of it must be unpacked. */
  #findEndLater(name: string, mark: string): void {
    const find = async () => {
      const known = this.#details.get(name);
      const lastTimeMs = known?.mark === mark && !this.#closed ? await this.#lastTime(name) : null;
      if (known && lastTimeMs !== null) known.details = { ...known.details, lastTimeMs };
    };
    // A file that has gone or is damaged keeps its end to itself.
    this.#findingEnds = this.#findingEnds.then(find).catch(() => {});
  }

  async #lastTime(name: string): Promise<number | null> {
    const newest = { file: name, order: 'newest', limit: LAST_RECORDS, before: 0, after: 0 } as const;
    for await (const items of this.search(newest)) {
      for (const item of items) if (item.type === 'record' && item.timeMs !== undefined) return item.timeMs;
    }
    return null;
  }

  async #look(
    name: string,
    options: ReadOptions,
  ): Promise<Omit<OwnDetails, keyof LogEntry | 'modifiedMs' | 'compressed'>> {
    try {
      const handle = await this.#handles.acquire(name);
      try {
        const { describeFile } = await import('./read/describe-file.ts');
        return { ...(await describeFile({ handle, reads: this.#reads }, this.#zone, options)), problem: null };
      } finally {
        handle.release();
      }
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      return { format: 'unreadable', firstTimeMs: null, lastTimeMs: null, problem: error.message };
    }
  }
}
