import { createHash } from 'node:crypto';
import type { BlockIndexes, FileIndex } from '../block-index/block-index.ts';
import { CheckedIndex } from '../block-index/checked-index.ts';
import { type LiveLimits, LiveTexts } from '../block-index/live-texts.ts';
import type { SummaryStore } from '../block-index/summary-store.ts';
import { CancelFlag } from '../cancel-flag.ts';
import { fnv1a } from '../cursor/cursor.ts';
import { fileStamp, isSettled, isSettledForWriters } from '../file/file-stamp.ts';
import type { LogHandle } from '../file/handle-cache.ts';
import { BUILT_IN_FORMATS, type FormatSet } from '../parse/detect-format.ts';
import type { Zone } from '../parse/zone.ts';
import { hasRegex } from '../query/filter-to-query.ts';
import type { PackedMap, ScanFile } from '../scan/block/scan-file.ts';
import type { TextIndexStore, TextKey } from '../scan/index-jobs.ts';
import type { WorkerPool } from '../scan/worker-pool.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { FileProblem, RecordFilter } from '../types.ts';
import type { OpenFamily } from './files/open-family.ts';
import type { OpenFile } from './files/open-file.ts';

const DAY_NS = 86_400_000_000_000n;

/** Smaller files are scanned in no time. Archives of this size contain several times as much text. */
const MIN_KEPT_BYTES = 1024 ** 2;

/** Maps of compressed files kept for the next query, and their size: a few MiB for gzip, up to 32 for others. */
const MAX_PACKED_MAPS = 4;
const MAX_PACKED_MAP_BYTES = 64 * 1024 ** 2;

export interface ScanContextDeps {
  pool: WorkerPool;
  indexes: BlockIndexes;
  zone: Zone;
  formats?: FormatSet;
  /** Keeps the indexes for the next process. */
  summaries?: SummaryStore | undefined;
  scrubber(): Scrubber | undefined;
  textIndex?: TextIndexStore | undefined;
  live?: LiveLimits | undefined;
}

/** What all queries of a directory share. */
export class ScanContext {
  readonly pool: WorkerPool;
  readonly indexes: BlockIndexes;
  readonly zone: Zone;
  readonly formats: FormatSet;
  readonly textIndex: TextIndexStore | undefined;
  readonly live: LiveTexts;
  readonly #summaries: SummaryStore | undefined;
  readonly #scrubber: () => Scrubber | undefined;
  readonly #packedMaps = new Map<string | LogHandle, SharedPackedMap>();

  constructor(deps: ScanContextDeps) {
    this.pool = deps.pool;
    this.indexes = deps.indexes;
    this.zone = deps.zone;
    this.formats = deps.formats ?? BUILT_IN_FORMATS;
    this.textIndex = deps.textIndex;
    this.live = new LiveTexts(deps.live);
    this.#summaries = deps.summaries;
    this.#scrubber = deps.scrubber;
  }

  /**
   * Throws REGEX_INVALID or REGEX_TOO_COMPLEX for an unusable pattern. Threads compile it, as they will use it. Once
   * the flag is set nothing is scanned with it, so errors are ignored.
   */
  async checkRegex(filter: RecordFilter, flag: CancelFlag): Promise<void> {
    if (!hasRegex(filter)) return;
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
      packedMap: undefined,
      textStart: file.textStart,
      encoding: file.encoding,
      start: file.compressed ? undefined : startCheck(file),
      scrub: this.#scrubber()?.rules,
      format,
      formats: this.formats.forThread(format),
      zone: this.zone.id,
      // Files whose times are whole are read by the same format, whenever they were written.
      writtenMs: this.formats.hasPartialTimes(format) ? Number(handle.modifiedNs / 1_000_000n) : 0,
    };
    if (!isMapped(file)) {
      if (this.textIndex) this.live.see(file);
      return plain;
    }
    const packedMap = await this.#packedMap(file, plain, flag);
    if (packedMap.problem && !problems.some((problem) => problem.file === name)) {
      problems.push({ file: name, ...packedMap.problem });
    }
    return { ...plain, packedMap, textBytes: packedMap.textBytes };
  }

  /** Whether `prepare` is fast: a compressed file need not be decompressed first. */
  isReady(file: OpenFile): boolean {
    return !isMapped(file) || this.#packedMaps.has(packedMapKey(file));
  }

  /** The index of a file. The times of its records depend on its format and, without a year, on when it was written. */
  indexFor(file: OpenFile): CheckedIndex {
    const { handle } = file;
    return new CheckedIndex(this.#fileIndex(file), isSettledForWriters(handle) ? fileStamp(handle) : undefined);
  }

  /** Loads what an earlier process has learned about these files, if this one has not yet learned anything. */
  async loadIndexes(families: readonly OpenFamily[]): Promise<void> {
    if (!this.#summaries) return;
    for (const file of families.flatMap(({ files }) => files)) {
      if (file.handle.sizeBytes < MIN_KEPT_BYTES) continue;
      if (this.indexes.isFull) return;
      const { mark, format } = file;
      const { headHash, headBytes } = mark;
      const definition = JSON.stringify(this.formats.forThread(format) ?? null);
      const parts = [headHash, headBytes, format, definition, this.zone.id, String(this.#writtenDay(file))];
      await this.#summaries.load(this.#fileIndex(file), { scrubId: this.#scrubber()?.id ?? '', parts });
    }
  }

  #fileIndex(file: OpenFile): FileIndex {
    return this.indexes.get(`${file.key}:${file.format}:${this.#writtenDay(file)}`);
  }

  #writtenDay({ format, handle }: OpenFile): bigint | '' {
    return this.formats.hasPartialTimes(format) ? handle.modifiedNs / DAY_NS : '';
  }

  /**
   * By which the text of a file, masked by these rules, is found in the text index, also when it has grown. More of it
   * than what cursors need: logs that begin with the same banner would replace each other's segments for ever.
   */
  textKey(opened: OpenFile, { scrub, zone, formats = [] }: ScanFile): TextKey {
    const { mark, format, textStart, startHash } = opened;
    const reading = JSON.stringify([format, formats, `${this.#writtenDay(opened)}`, zone, textStart, startHash]);
    return {
      headHash: mark.headHash,
      headBytes: mark.headBytes,
      scrubId: scrub?.id ?? '',
      reading: createHash('sha256').update(reading).digest('hex').slice(0, 16),
    };
  }

  #packedMap(opened: OpenFile, file: ScanFile, flag: CancelFlag): Promise<PackedMap> {
    const mapKey = packedMapKey(opened);
    let shared = this.#packedMaps.get(mapKey);
    this.#packedMaps.delete(mapKey);
    if (!shared || shared.isCancelled) shared = new SharedPackedMap(this.pool, file, flag);
    this.#packedMaps.set(mapKey, shared);
    const { map } = shared;
    // A map that failed or was cancelled is built again for the next caller.
    map.catch(() => this.#packedMaps.get(mapKey)?.map === map && this.#packedMaps.delete(mapKey));
    this.#forgetOldest();
    return shared.waitFor(flag);
  }

  /** The newest is kept, however large. */
  #forgetOldest(): void {
    const keys = [...this.#packedMaps.keys()];
    let bytes = 0;
    for (const [index, key] of keys.reverse().entries()) {
      bytes += this.#packedMaps.get(key)?.bytes ?? 0;
      if (index >= MAX_PACKED_MAPS || (index > 0 && bytes > MAX_PACKED_MAP_BYTES)) this.#packedMaps.delete(key);
    }
  }
}

/** Whether its text is not just its bytes: it is read by means of a map. */
function isMapped({ compressed, encoding }: OpenFile): boolean {
  return compressed || encoding !== undefined;
}

function startCheck({ firstBytes }: OpenFile): ScanFile['start'] {
  return { bytes: firstBytes.length, hash: fnv1a(firstBytes, 0, firstBytes.length) };
}

/** While a change need not show in the stamp, a map is only for those who have the file open with it. */
function packedMapKey({ key, handle }: OpenFile): string | LogHandle {
  return isSettled(handle) ? `${key}:${fileStamp(handle)}` : handle;
}

/** A map that several callers may wait for. It is cancelled when all of them are. */
class SharedPackedMap {
  // kept: threads are cancelled by a flag, not by a signal; it has a handler from birth
  readonly map: Promise<PackedMap>;
  /** Its size, once it is built. */
  bytes = 0;
  readonly #pool: WorkerPool;
  readonly #flag: CancelFlag;
  #waiting = 0;

  constructor(pool: WorkerPool, file: ScanFile, { client }: CancelFlag) {
    this.#pool = pool;
    this.#flag = new CancelFlag({ client });
    this.map = pool.run({ kind: 'packed-map', file }, this.#flag).then((map) => {
      this.bytes = map.shared.byteLength;
      return map;
    });
  }

  get isCancelled(): boolean {
    return this.#flag.isSet;
  }

  /** The given descriptor is in use until this settles, also when it is cancelled. */
  async waitFor(flag: CancelFlag): Promise<PackedMap> {
    this.#waiting++;
    if (flag.client !== this.#flag.client) this.#pool.adopt(this.#flag, flag.client);
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
