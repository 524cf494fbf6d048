import { HandleCache } from './file/handle-cache.ts';
import type { LogHandle } from './file/log-handle.ts';
import { SharedLook } from './file/shared-look.ts';
import { SharedReads } from './file/shared-reads.ts';
import { isGzipName } from './file/text-source.ts';
import { LogError } from './log-error.ts';
import { isNear, nearestNames } from './nearest-names.ts';
import { createZone, type Zone } from './parse/zone.ts';
import { describeFile } from './read/describe-file.ts';
import { listFiles, type SeenFile } from './read/list.ts';
import { openLog } from './read/open-log.ts';
import { tail } from './read/tail.ts';
import type { ByteAnswer, LogEntry, LogFileDetails, OpenLog, ReadOptions } from './types.ts';

export interface LogDirOptions {
  /** Zone of the timestamps in the files. */
  zone?: Zone;
}

/** The door to a directory of logs. Nothing outside the directory is ever read through it. */
export class LogDir {
  readonly path: string;
  readonly #zone: Zone;
  readonly #handles: HandleCache;
  readonly #reads = new SharedReads();
  /** Simultaneous listings share one; there is only one thing to list. */
  readonly #listings: SharedLook<SeenFile[]>;
  /** Details by name, valid while the file's identity, size and time are the same. */
  readonly #details = new Map<string, { mark: string; details: LogFileDetails }>();

  constructor(path: string, { zone = createZone() }: LogDirOptions = {}) {
    this.path = path;
    this.#zone = zone;
    this.#handles = new HandleCache(path);
    this.#listings = new SharedLook(() => listFiles(path));
  }

  /** Resources in use: what the leak tests watch. */
  get usage(): { openFiles: number; lentBuffers: number } {
    return { openFiles: this.#handles.openCount, lentBuffers: this.#reads.lentBuffers };
  }

  async list(): Promise<LogEntry[]> {
    return (await this.#listings.look('')).map(({ name, size }) => ({ name, size }));
  }

  /** The listing with what a look at both ends of each file tells. A file that cannot be read says so in its entry. */
  async details(options: ReadOptions = {}): Promise<LogFileDetails[]> {
    const files = await this.#listings.look('');
    const answer: LogFileDetails[] = [];
    // One after the other: a directory of thousands of files must not crowd out other requests.
    for (const file of files) answer.push(await this.#detailsOf(file, options));
    const names = new Set(files.map(({ name }) => name));
    for (const name of this.#details.keys()) if (!names.has(name)) this.#details.delete(name);
    return answer;
  }

  /** The last `size` bytes of a file's text, cut to whole lines. The caller closes the answer. */
  async tail(name: string, size: number, options: ReadOptions = {}): Promise<ByteAnswer> {
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`size is a positive whole number, not ${size}`);
    return tail({ handle: await this.#acquire(name), reads: this.#reads }, size, options);
  }

  /** A file as it is on disk. The caller closes it. */
  async open(name: string): Promise<OpenLog> {
    return openLog({ handle: await this.#acquire(name), reads: this.#reads });
  }

  /** Closes what is kept open. Answers under way end by themselves. */
  close(): void {
    this.#handles.close();
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
    const near = await listFiles(this.path, (candidate) => isNear(name, candidate)).catch(() => []);
    const names = nearestNames(
      name,
      near.map((entry) => entry.name),
    );
    if (names.length === 0) return error;
    const hint = names.map((candidate) => JSON.stringify(candidate)).join(' or ');
    return new LogError(error.code, `${error.message}; did you mean ${hint}?`, { cause: error });
  }

  async #detailsOf({ name, size, stats }: SeenFile, { signal }: ReadOptions): Promise<LogFileDetails> {
    signal?.throwIfAborted();
    const mark = `${stats.dev}:${stats.ino}:${size}:${stats.mtimeNs}`;
    const known = this.#details.get(name);
    if (known?.mark === mark) return known.details;
    const facts = { name, size, modifiedMs: Number(stats.mtimeMs), compressed: isGzipName(name) };
    const details: LogFileDetails = { ...facts, ...(await this.#look(name, { signal })) };
    // A failure may pass without the file changing, so it is not remembered.
    if (details.problem === null) this.#details.set(name, { mark, details });
    return details;
  }

  async #look(
    name: string,
    options: ReadOptions,
  ): Promise<Omit<LogFileDetails, keyof LogEntry | 'modifiedMs' | 'compressed'>> {
    try {
      const handle = await this.#handles.acquire(name);
      try {
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
