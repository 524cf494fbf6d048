import { type CallOptions, codeOf, errorMessage, LogSources } from '@porthole/contract';
import { groupFamilies, type LocalTimes, LocalTimesReader } from '@porthole/logs';
import { Shared } from '@porthole/logs/shared';
import type { FileProblem, LogEntry, LogSelection } from '@porthole/logs/types';
import { inParallel } from '../requests/bounded-calls.ts';
import { expectFailure } from '../requests/member-failure.ts';
import { fetchTail, joinTail, LONGEST_LINE_BYTES, type Tail, type TailNode, viewFailure } from './fetch-tail.ts';
import type { MemberZone } from './member-zone.ts';
import { MirrorDir, type MirrorDirOptions } from './mirror-dir.ts';
import { ASIDE, planFiles, type TailLimits } from './plan-files.ts';

/** Concurrent file reads. */
const FILES_AT_ONCE = 4;

/** Files are cut when their total exceeds the first read by this factor. */
const MAX_GROWTH = 2;

/** Candidates to check for the new name of a rotated file. */
const MAX_CANDIDATES = 3;

/** Attempts for a file that keeps growing. */
const MAX_TRIES = 3;

/** Bytes of new files that are held in memory until the files are listed again. */
const BATCH_BYTES = 4 * 1024 ** 2;

/** Error codes of a node that does not respond. */
const SILENT_CODES: ReadonlySet<string> = new Set(['UNREACHABLE', 'DEADLINE_EXCEEDED']);

const NO_TIMES: LocalTimes = { hasLocal: false };

const NEWLINE = 10;

/** Bytes of the known end of a file in memory, to find where new text begins. */
const KNOWN_BYTES = 16 * 1024;

export interface TailMirrorOptions extends Omit<MirrorDirOptions, 'zone'> {
  node: TailNode;
  zone: MemberZone;
  limits: TailLimits;
  /** A listing younger than this is reused. */
  freshMs: number;
  /** Called when all files were read, with the wall clock of their listing. */
  onRead?: ((atMs: number) => Promise<void>) | undefined;
  /** Called when the node does not respond. */
  onSilent?: (() => Promise<void>) | undefined;
}

/** A part of a log that could not be read: more was written than the node serves. */
export interface MissedPart {
  file: string;
  bytes: number | null;
}

/** What is mirrored of a node. */
export interface MirrorFacts {
  /** As listed by the node, including files that were not read. */
  listed: readonly LogEntry[];
  files: ReadonlyMap<string, Readonly<MirroredFile>>;
  problems: readonly FileProblem[];
  /** Wall clock of the listing. */
  asOfMs: number;
}

/** A file to read from scratch. */
interface NewFile {
  entry: LogEntry;
  /** There was a mirrored part before that does not join. */
  lost?: MirroredFile | undefined;
  /** It was listed with a smaller size then, by the monotonic clock. */
  grownSinceMs?: number;
}

/** Mirrors the newest part of each file of a node, updated according to its listings. */
export class TailMirror {
  readonly #options: TailMirrorOptions;
  readonly #files = new Map<string, MirroredFile>();
  readonly #listeners = new Set<(missed: MissedPart) => void>();
  #dir: MirrorDir | undefined;
  #listed: LogEntry[] = [];
  readonly #problems = new Map<string, FileProblem>();
  /** Views that failed in the current refresh. */
  readonly #failures = new Map<string, unknown>();
  readonly #localTimes: LocalTimesReader;
  readonly #rezoned = new Set<() => void>();
  /** Monotonic time of the last listing. */
  #listedMs = 0;
  readonly #refreshing = new Shared<void>();
  /** When parts were last read, and the wall clock of the listing, by `selectionKey`. */
  readonly #refreshed = new Map<string, { readMs: number; atMs: number }>();
  readonly #abortController = new AbortController();
  readonly #freshMs: number;

  constructor(options: TailMirrorOptions) {
    this.#options = options;
    this.#freshMs = options.freshMs;
    this.#localTimes = new LocalTimesReader(options.formats);
  }

  /** What is mirrored now of the selected files: what others request later does not change it. Only after a refresh. */
  facts(selection: LogSelection = {}): MirrorFacts {
    const { problems } = planFiles(this.#listed, { ...this.#options.limits, selection });
    return {
      listed: this.#listed,
      files: new Map(this.#files),
      problems: [...this.#problems.values(), ...problems],
      asOfMs: this.#lastRead(selection)?.atMs ?? 0,
    };
  }

  /** Called for a missed part before the text after it appears. */
  onMissed(listener: (missed: MissedPart) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called when times are read in another zone: directories in use have the wrong ones. */
  onRezoned(listener: () => void): () => void {
    this.#rezoned.add(listener);
    return () => this.#rezoned.delete(listener);
  }

  /** Only after a refresh. */
  get dir(): MirrorDir {
    if (this.#dir === undefined) throw new Error('the mirror is used before its first refresh');
    return this.#dir;
  }

  /**
   * Reads the new parts of the selected files according to the listed sizes. Refreshes are shared and run one at a time; the
   * signal of a caller only ends its own waiting. Rejects if the listing fails; a file that cannot be read is reported as a
   * problem of that file.
   */
  async refresh(selection: LogSelection = {}, options: CallOptions = {}): Promise<void> {
    while (!this.#isFresh(selection)) await this.#refreshing.run(() => this.#refresh(selection), options);
  }

  /** Ends what reads it. */
  async close(): Promise<void> {
    this.#abortController.abort(new Error('the mirror is closed'));
    await this.#refreshing.last();
    await this.#dir?.close();
  }

  #isFresh(selection: LogSelection): boolean {
    return performance.now() - (this.#lastRead(selection)?.readMs ?? -Infinity) < this.#freshMs;
  }

  #lastRead(selection: LogSelection): { readMs: number; atMs: number } | undefined {
    const [all, own] = [selectionKey({}), selectionKey(selection)].map((part) => this.#refreshed.get(part));
    return all && own && all.readMs < own.readMs ? own : (all ?? own);
  }

  async #refresh(selection: LogSelection): Promise<void> {
    const { limits } = this.#options;
    const startedMs = performance.now();
    const entries = await this.#list();
    const atMs = Date.now(); // clock: as of when a copy is shown
    this.#dir ??= await MirrorDir.create({ ...this.#options, zone: this.#options.zone.inUse });
    this.#listed = entries;
    const plan = planFiles(entries, { ...limits, selection });
    await this.#followRotations(plan.files);
    const files: (NewFile | undefined)[] = await inParallel(plan.files, FILES_AT_ONCE, (entry) =>
      this.#readKnown(entry),
    );
    await this.#readNew(files.filter((file) => file !== undefined));
    await this.#noteFailures();
    await this.#dropRemoved(new Set(entries.map(({ name }) => name)));
    await this.#cutLarge();
    await this.#applyZone();
    for (const [part, { readMs }] of this.#refreshed)
      if (startedMs - readMs > this.#freshMs) this.#refreshed.delete(part);
    this.#refreshed.set(selectionKey(selection), { readMs: performance.now(), atMs });
    if (new LogSources(selection.src).isAll) await this.#options.onRead?.(atMs);
  }

  async #list(): Promise<LogEntry[]> {
    const { signal } = this.#abortController;
    signal.throwIfAborted();
    const listedMs = performance.now();
    try {
      const entries = await this.#options.node.listLogs({ signal });
      this.#listedMs = listedMs;
      return entries;
    } catch (error) {
      if (this.#dir && SILENT_CODES.has(codeOf(error))) await this.#options.onSilent?.();
      throw error;
    }
  }

  /** Rotates the mirrored file like the node did, after all of it was read: its records keep their identity. */
  async #followRotations(entries: readonly LogEntry[]): Promise<void> {
    const sizes = new Map(entries.map(({ name, size }) => [name, size]));
    for (const { files } of groupFamilies([...sizes.keys()])) {
      const live = files.at(-1);
      const known = live?.state === 'live' ? this.#files.get(live.name) : undefined;
      if (live === undefined || known === undefined) continue;
      const candidates = files
        .slice(0, -1)
        .filter(({ name }) => (sizes.get(name) ?? 0) >= known.size && this.#files.get(name)?.size !== sizes.get(name))
        .slice(-MAX_CANDIDATES);
      for (const { name } of candidates.toReversed()) {
        if (await this.#adopt(live.name, { name, size: sizes.get(name) ?? 0 })) break;
      }
    }
  }

  /** Whether `entry` is the rotated `live` file; it then takes over its copy, and `live` starts anew. */
  async #adopt(live: string, entry: LogEntry): Promise<boolean> {
    const known = this.#files.get(live);
    if (known === undefined || known.known.length === 0) return false;
    const rest = await this.#readRest(known, entry).catch(expectFailure); // then it is read like any other file
    if (rest === undefined) return false;
    await this.#append(live, known, { ...rest, size: entry.size });
    await this.dir.move(live, entry.name);
    await this.dir.remove(live + ASIDE);
    this.#files.set(entry.name, { ...(this.#files.get(live) ?? known), asideBytes: 0 });
    this.#files.delete(live);
    return true;
  }

  /** Reads what was appended to a file; returns it if it must be read from scratch. */
  async #readKnown(entry: LogEntry): Promise<NewFile | undefined> {
    const known = this.#files.get(entry.name);
    if (known?.size === entry.size && !this.#problems.has(entry.name)) return undefined;
    this.#problems.delete(entry.name);
    // An empty file cannot be joined: LinDB drops the first line of a response.
    if (known === undefined || (known.size === 0 && known.heldBytes === 0)) return { entry };
    // At most one byte less: a newline that the node added.
    const isShorter = entry.size < known.endBytes - 1;
    try {
      const rest = isShorter ? undefined : await this.#readRest(known, entry);
      // Truncated, replaced, or grown by more than the node serves: start over.
      if (rest === undefined) return { entry, lost: known };
      const isLarge = known.heldBytes + rest.bytes.length > this.#options.limits.maxFileBytes / 2;
      const file = isLarge && rest.bytes.length > 0 ? await this.#moveAside(entry.name, known) : known;
      await this.#append(entry.name, file, { ...rest, size: entry.size });
    } catch (error) {
      this.#fail(entry.name, error);
    }
    return undefined;
  }

  /** The appended text; `undefined` if the newest part does not join the known text. */
  async #readRest(known: MirroredFile, entry: LogEntry): Promise<Rest | undefined> {
    const grownBytes = Math.max(0, entry.size - known.endBytes);
    const { tailBytes } = this.#options.limits;
    const wishes = [grownBytes + KNOWN_BYTES, tailBytes].filter((bytes) => bytes <= tailBytes);
    for (const wantedBytes of new Set(wishes)) {
      const { bytes } = await this.#fetch(entry, wantedBytes);
      const joined = joinTail(known.known, bytes, { grownBytes });
      if (joined === undefined) continue;
      const rest = bytes.subarray(joined.at);
      const before = joined.known;
      // One byte more than the growth is a newline that the node added to an unfinished line. If the file grew after the
      // listing, the last line may be unfinished as well and is read again.
      if (rest.length === grownBytes + 1) return { bytes: rest.subarray(0, -1), before };
      return { bytes: rest.length > grownBytes ? withoutLastLine(rest) : rest, before };
    }
    return undefined;
  }

  #fetch({ name, size }: LogEntry, wantedBytes: number): Promise<Tail> {
    return fetchTail(this.#options.node, { file: name, size, wantedBytes, signal: this.#abortController.signal });
  }

  /** Reads files from scratch. Those that are read together are listed again together. */
  async #readNew(files: readonly NewFile[]): Promise<void> {
    const { tailBytes } = this.#options.limits;
    let batch: NewFile[] = [];
    let bytes = 0;
    for (const file of files) {
      bytes += Math.min(file.entry.size, tailBytes);
      if (bytes > BATCH_BYTES && batch.length > 0) {
        await this.#readBatch(batch);
        batch = [];
        bytes = Math.min(file.entry.size, tailBytes);
      }
      batch.push(file);
    }
    await this.#readBatch(batch);
  }

  /**
   * Only if the size of a file is the same before and after is its last line known to be complete, and whether the first one
   * is missing. A file that keeps growing is kept without its last line.
   */
  async #readBatch(files: readonly NewFile[]): Promise<void> {
    const { tailBytes } = this.#options.limits;
    for (let [tries, left] = [1, files]; left.length > 0; tries++) {
      const listedMs = this.#listedMs;
      const tails = await inParallel(left, FILES_AT_ONCE, ({ entry }) =>
        this.#fetch(entry, tailBytes).catch((error: unknown) => this.#fail(entry.name, error)),
      );
      const isOpen = left.some(({ entry }, index) => entry.size > 0 && tails[index] !== undefined);
      const sizes = new Map(isOpen ? (await this.#list()).map(({ name, size }) => [name, size]) : []);
      const grown: NewFile[] = [];
      for (const [index, file] of left.entries()) {
        const tail = tails[index];
        if (tail === undefined) continue;
        const { name, size } = file.entry;
        const sizeNow = sizes.get(name) ?? size;
        if (sizeNow === size) await this.#putFirst(file, { ...tail, isWhole: tail.bytes.length >= size, listedMs });
        else if (tries < MAX_TRIES) grown.push({ ...file, entry: { name, size: sizeNow }, grownSinceMs: listedMs });
        // With the earlier size: the next listing differs, and the rest is read.
        else await this.#putFirst(file, { ...tail, bytes: withoutLastLine(tail.bytes), isWhole: false, listedMs });
      }
      left = grown;
    }
  }

  #fail(file: string, error: unknown): undefined {
    this.#abortController.signal.throwIfAborted();
    this.#failures.set(file, error);
  }

  /** One more listing shows for all of them whether the file is gone. */
  async #noteFailures(): Promise<void> {
    if (this.#failures.size === 0) return;
    const entries = await this.#list().catch(expectFailure); // without a list, the first error says it all
    for (const [file, thrown] of this.#failures) {
      const error = viewFailure(thrown, { file, entries });
      this.#problems.set(file, { file, code: codeOf(error), detail: errorMessage(error) });
    }
    this.#failures.clear();
  }

  async #putFirst(
    { entry: { name, size }, lost, grownSinceMs }: NewFile,
    { bytes, isCut, isWhole, listedMs }: Tail & Pick<MirroredFile, 'isWhole' | 'listedMs'>,
  ): Promise<void> {
    const isGrown = lost !== undefined && size >= lost.endBytes;
    const missing = size - (isGrown ? lost.endBytes : 0) - bytes.length;
    // Before it is written: followers must get the gap before the text after it.
    const isKnown = missing > 0 && (isGrown || !lost);
    if (lost || !isWhole) this.#emitMissed({ file: name, bytes: isKnown ? missing : null });
    await this.dir.put(name, this.#mask(bytes));
    await this.dir.remove(name + ASIDE);
    const known = lastLines(bytes);
    const times = this.#readTimes(known);
    const held = { endBytes: size, heldBytes: bytes.length, asideBytes: 0, known };
    this.#files.set(name, { ...held, size, isCut, isWhole, listedMs, times });
    if (grownSinceMs !== undefined) this.#noteWritten(name, times, grownSinceMs);
    this.#noteCut(name, isCut);
  }

  /** Times of which the zone must be found out. */
  #readTimes(text: Buffer): LocalTimes {
    const { node, zone } = this.#options;
    if (zone.inUse.source === 'set') return NO_TIMES;
    return this.#localTimes.read(text, node.clock?.nowMs ?? Date.now()); // clock: as of when a copy is shown
  }

  /** What a file has more than at a time was written after that, by the clock of the node. */
  #noteWritten(file: string, { lastMs }: LocalTimes, sinceMs: number): void {
    const nowMs = this.#options.node.clock?.nowMs;
    if (nowMs === undefined || lastMs === undefined) return;
    const fromMs = nowMs - (performance.now() - sinceMs);
    const newestLocalMs = Math.max(lastMs, ...[...this.#files.values()].map(({ times }) => times.newestMs ?? lastMs));
    this.#options.zone.note({ file, localMs: lastMs, fromMs, toMs: nowMs, newestLocalMs });
  }

  async #applyZone(): Promise<void> {
    if (await this.dir.setZone(this.#options.zone.inUse)) for (const listener of [...this.#rezoned]) listener();
  }

  #emitMissed(missed: MissedPart): void {
    for (const listener of this.#listeners) listener(missed);
  }

  async #append(name: string, known: MirroredFile, { bytes, before, size }: Rest & { size: number }): Promise<void> {
    if (bytes.length > 0) await this.dir.append(name, this.#mask(bytes, before));
    const added = this.#readTimes(lastLines(bytes));
    this.#files.set(name, {
      ...known,
      size,
      endBytes: Math.max(size, known.endBytes + bytes.length),
      heldBytes: known.heldBytes + bytes.length,
      known: lastLines(Buffer.concat([before, bytes])),
      listedMs: this.#listedMs,
      times: joinTimes(known.times, added),
    });
    this.#noteWritten(name, added, known.listedMs);
    this.#noteCut(name, known.isCut);
  }

  #noteCut(file: string, isCut: boolean): void {
    if (!isCut) return;
    const detail = `the node does not serve lines of ${LONGEST_LINE_BYTES} bytes or more, nor the text before them`;
    this.#problems.set(file, { file, code: 'LOG_FILE_UNREADABLE', detail });
  }

  async #dropRemoved(wanted: ReadonlySet<string>): Promise<void> {
    for (const name of this.#problems.keys()) if (!wanted.has(name)) this.#problems.delete(name);
    for (const name of this.#files.keys()) {
      if (wanted.has(name)) continue;
      this.#files.delete(name);
      await this.dir.remove(name);
      await this.dir.remove(name + ASIDE);
    }
  }

  /** Begins the file anew, as a rotation does: its text is the older half of what is kept. */
  async #moveAside(name: string, file: MirroredFile): Promise<MirroredFile> {
    await this.dir.move(name, name + ASIDE);
    await this.dir.put(name, Buffer.alloc(0));
    return { ...file, heldBytes: 0, asideBytes: file.heldBytes, isWhole: false };
  }

  /** If there is too much of all files together, their older halves go, and what is more than a share is the next to go. */
  async #cutLarge(): Promise<void> {
    const { maxTotalBytes } = this.#options.limits;
    const files = [...this.#files];
    const totalBytes = files.reduce((sum, [, { heldBytes, asideBytes }]) => sum + heldBytes + asideBytes, 0);
    if (totalBytes <= maxTotalBytes * MAX_GROWTH) return;
    for (const [name, file] of files) {
      await this.dir.remove(name + ASIDE);
      const isLarge = file.heldBytes > maxTotalBytes / files.length;
      this.#files.set(name, isLarge ? await this.#moveAside(name, file) : { ...file, asideBytes: 0 });
    }
  }

  /** Copies may outlive what is known of the secrets in them. `before`: the text that it continues. */
  #mask(bytes: Buffer, before: Buffer = Buffer.alloc(0)): Buffer {
    const scrubber = this.#options.scrubbing.current;
    if (!scrubber) return bytes;
    const text = Buffer.concat([before, bytes]);
    scrubber.mask(text, { from: before.length, atEnd: true });
    return text.subarray(before.length);
  }
}

function joinTimes(known: LocalTimes, added: LocalTimes): LocalTimes {
  const newestMs = Math.max(known.newestMs ?? -Infinity, added.newestMs ?? -Infinity);
  return { hasLocal: known.hasLocal || added.hasLocal, ...(Number.isFinite(newestMs) && { newestMs }) };
}

function selectionKey({ src = [] }: LogSelection): string {
  return JSON.stringify(src);
}

/** The text after the known part of a file. */
interface Rest {
  bytes: Buffer;
  /** The known text as in the file. */
  before: Buffer;
}

function withoutLastLine(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf(NEWLINE, -2) + 1);
}

/** The mirrored part of a file. */
export interface MirroredFile {
  /** Listed size when it was read. */
  size: number;
  /** Offset where the mirrored part ends: beyond the listed size if the file grew before it was read. */
  endBytes: number;
  /** Mirrored bytes, and those of an older part, which is a file of its own. */
  heldBytes: number;
  asideBytes: number;
  /** The newest of them, from the start of a line. */
  known: Buffer;
  /** Nothing is missing at its start. */
  isWhole: boolean;
  /** Preceded by a line that the node does not send. */
  isCut: boolean;
  /** When its size was listed, by the monotonic clock: what comes after `size` was written later. */
  listedMs: number;
  /** The times of the known text. */
  times: LocalTimes;
}

/** A copy, so that a tail of megabytes is not retained for its last lines. */
function lastLines(bytes: Buffer): Buffer {
  if (bytes.length <= KNOWN_BYTES) return Buffer.from(bytes);
  const cut = bytes.subarray(-KNOWN_BYTES);
  const newline = cut.subarray(0, -1).indexOf(NEWLINE);
  // A single longer line: matched as a whole or not at all.
  return Buffer.from(newline < 0 ? bytes.subarray(bytes.lastIndexOf(NEWLINE, -2) + 1) : cut.subarray(newline + 1));
}
