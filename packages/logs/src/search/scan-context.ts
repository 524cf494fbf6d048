import type { BlockIndexes } from '../block-index/block-index.ts';
import { CheckedIndex } from '../block-index/checked-index.ts';
import { fnv1a } from '../cursor/cursor.ts';
import { fileStamp, isSettled, isSettledForWriters } from '../file/file-stamp.ts';
import type { LogHandle } from '../file/log-handle.ts';
import type { GzMap } from '../gzip/gz-map.ts';
import { BUILT_IN_FORMATS, type FormatSet } from '../parse/format-set.ts';
import type { Zone } from '../parse/zone.ts';
import { CancelFlag } from '../scan/cancel-flag.ts';
import type { ScanFile } from '../scan/jobs.ts';
import type { WorkerPool } from '../scan/worker-pool.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { FileProblem, RecordFilter } from '../types.ts';
import type { OpenFile } from './files/open-file.ts';

const DAY_NS = 86_400_000_000_000n;

/** Maps of compressed files kept for the next query; each has a few MiB at most. */
const MAX_GZ_MAPS = 4;

export interface ScanContextDeps {
  pool: WorkerPool;
  indexes: BlockIndexes;
  zone: Zone;
  formats?: FormatSet;
  scrubber(): Scrubber | undefined;
}

/** What all queries of a directory share. */
export class ScanContext {
  readonly pool: WorkerPool;
  readonly indexes: BlockIndexes;
  readonly zone: Zone;
  readonly formats: FormatSet;
  readonly #scrubber: () => Scrubber | undefined;
  readonly #gzMaps = new Map<string | LogHandle, SharedGzMap>();

  constructor(deps: ScanContextDeps) {
    this.pool = deps.pool;
    this.indexes = deps.indexes;
    this.zone = deps.zone;
    this.formats = deps.formats ?? BUILT_IN_FORMATS;
    this.#scrubber = deps.scrubber;
  }

  /**
   * Throws REGEX_INVALID or REGEX_TOO_COMPLEX for an unusable pattern. Threads compile it, as they will use it. Once
   * the flag is set nothing is scanned with it, so errors are ignored.
   */
  async checkRegex(filter: RecordFilter, flag: CancelFlag): Promise<void> {
    if (filter.regex === undefined) return;
    try {
      await this.pool.run({ kind: 'regex', filter, texts: [] }, flag);
    } catch (error) {
      if (!flag.isSet) throw error;
    }
  }

  /**
   * The file as threads need it. A compressed one is decompressed once to build an offset index; damage is reported.
   */
  async prepare(file: OpenFile, flag: CancelFlag, problems: FileProblem[]): Promise<ScanFile> {
    const { name, handle, format } = file;
    const plain: ScanFile = {
      name,
      key: file.key,
      stamp: isSettledForWriters(handle) ? fileStamp(handle) : undefined,
      fd: handle.fd,
      sizeBytes: handle.sizeBytes,
      textBytes: handle.sizeBytes,
      gzMap: undefined,
      textStart: file.textStart,
      start: file.compressed ? undefined : startCheck(file),
      scrub: this.#scrubber()?.rules,
      format,
      formats: this.formats.forThread(format),
      zone: this.zone.id,
      writtenMs: Number(handle.modifiedNs / 1_000_000n),
    };
    if (!file.compressed) return plain;
    const gzMap = await this.#gzMap(file, plain, flag);
    if (gzMap.problem && !problems.some((problem) => problem.file === name)) {
      problems.push({ file: name, ...gzMap.problem });
    }
    return { ...plain, gzMap, textBytes: gzMap.textBytes };
  }

  /** Whether `prepare` is fast: a compressed file need not be decompressed first. */
  isReady(file: OpenFile): boolean {
    return !file.compressed || this.#gzMaps.has(gzMapKey(file));
  }

  /** The index of a file. The times of its records depend on its format and, without a year, on when it was written. */
  indexFor({ key, format, handle }: OpenFile): CheckedIndex {
    const writtenDay = this.formats.hasPartialTimes(format) ? handle.modifiedNs / DAY_NS : '';
    const index = this.indexes.get(`${key}:${format}:${writtenDay}`);
    return new CheckedIndex(index, isSettledForWriters(handle) ? fileStamp(handle) : undefined);
  }

  #gzMap(opened: OpenFile, file: ScanFile, flag: CancelFlag): Promise<GzMap> {
    const mapKey = gzMapKey(opened);
    let shared = this.#gzMaps.get(mapKey);
    this.#gzMaps.delete(mapKey);
    if (!shared || shared.isCancelled) shared = new SharedGzMap(this.pool, file);
    this.#gzMaps.set(mapKey, shared);
    // A map that failed or was cancelled is built again for the next caller.
    const { map } = shared;
    map.catch(() => this.#gzMaps.get(mapKey)?.map === map && this.#gzMaps.delete(mapKey));
    for (const oldest of this.#gzMaps.keys()) {
      if (this.#gzMaps.size <= MAX_GZ_MAPS) break;
      this.#gzMaps.delete(oldest);
    }
    return shared.waitFor(flag);
  }
}

function startCheck({ firstBytes }: OpenFile): ScanFile['start'] {
  return { bytes: firstBytes.length, hash: fnv1a(firstBytes, 0, firstBytes.length) };
}

/** While a change need not show in the stamp, a map is only for those who have the file open with it. */
function gzMapKey({ key, handle }: OpenFile): string | LogHandle {
  return isSettled(handle) ? `${key}:${fileStamp(handle)}` : handle;
}

/** A map that several callers may wait for. It is cancelled when all of them are. */
class SharedGzMap {
  readonly map: Promise<GzMap>;
  readonly #flag = new CancelFlag();
  #waiting = 0;

  constructor(pool: WorkerPool, file: ScanFile) {
    this.map = pool.run({ kind: 'gz-map', file }, this.#flag);
  }

  get isCancelled(): boolean {
    return this.#flag.isSet;
  }

  /** The given descriptor is in use until this settles, also when it is cancelled. */
  async waitFor(flag: CancelFlag): Promise<GzMap> {
    this.#waiting++;
    let leaves = false;
    const leave = () => {
      if (leaves) return;
      leaves = true;
      this.#waiting--;
      if (this.#waiting === 0) this.#flag.set();
    };
    const forget = flag.whenSet(leave);
    try {
      return await this.map;
    } finally {
      leaves = true;
      forget();
    }
  }
}
