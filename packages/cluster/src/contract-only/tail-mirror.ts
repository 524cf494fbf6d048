import { type CallOptions, codeOf, errorMessage } from '@porthole/contract';
import { groupFamilies, type Scrubbing, type UserFormat, type WorkerPool, type Zone } from '@porthole/logs';
import { Shared } from '@porthole/logs/shared';
import type { FileProblem, LogEntry, LogSelection } from '@porthole/logs/types';
import { inParallel } from '../fan-out/bounded-calls.ts';
import { expectFailure } from '../fan-out/member-failure.ts';
import { LONGEST_LINE_BYTES, type TailNode, viewFailure } from './fetch-tail.ts';
import { MirrorDirs } from './mirror-dir.ts';
import { afterAppend, firstRead, type MirroredFile } from './mirrored-file.ts';
import { planFiles, type TailLimits } from './plan-files.ts';
import { type Rest, TailSource } from './tail-source.ts';

/** Concurrent file reads. */
const FILES_AT_ONCE = 4;

/** Files are cut when their total exceeds the first read by this factor. */
const MAX_GROWTH = 2;

/** Candidates to check for the new name of a rotated file. */
const MAX_CANDIDATES = 3;

export interface TailMirrorOptions {
  node: TailNode;
  zone: Zone;
  formats?: readonly UserFormat[] | undefined;
  limits: TailLimits;
  threads: WorkerPool;
  /** Masking of the mirrored text. */
  scrubbing: Scrubbing;
  /** A listing younger than this is reused. */
  freshMs: number;
}

/** A part of a log that could not be read: more was written than the node serves. */
export interface MissedPart {
  file: string;
  bytes: number | null;
}

/** Mirrors the newest part of each file of a node, updated according to its listings. */
export class TailMirror {
  readonly #options: TailMirrorOptions;
  readonly #files = new Map<string, MirroredFile>();
  readonly #listeners = new Set<(missed: MissedPart) => void>();
  readonly #dirs: MirrorDirs;
  readonly #source: TailSource;
  #listed: LogEntry[] = [];
  #planProblems: FileProblem[] = [];
  readonly #problems = new Map<string, FileProblem>();
  readonly #refreshing = new Shared<void>();
  /** Time of the last read, by `partOf`. */
  readonly #refreshedMs = new Map<string, number>();
  /** Wall clock of the last listing. */
  asOfMs = 0;
  readonly #abortController = new AbortController();
  readonly #freshMs: number;

  constructor(options: TailMirrorOptions) {
    this.#options = options;
    this.#freshMs = options.freshMs;
    const { node, zone, formats, threads, scrubbing, limits } = options;
    this.#dirs = new MirrorDirs({ zone, formats, threads, scrubbing });
    this.#source = new TailSource({ node, tailBytes: limits.tailBytes, signal: this.#abortController.signal });
  }

  /** As listed by the node, including files that were not read. */
  get listed(): readonly LogEntry[] {
    return this.#listed;
  }

  get files(): ReadonlyMap<string, Readonly<MirroredFile>> {
    return this.#files;
  }

  get problems(): readonly FileProblem[] {
    return [...this.#problems.values(), ...this.#planProblems];
  }

  /** Called for a missed part before the text after it appears. */
  onMissed(listener: (missed: MissedPart) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The current mirror directory, in use until released. Only after a refresh. */
  use(): ReturnType<MirrorDirs['use']> {
    return this.#dirs.use();
  }

  /**
   * Reads the new parts of the selected files according to the listed sizes. Refreshes are shared and run one at a time; the
   * signal of a caller only ends its own waiting. Rejects if the listing fails; a file that cannot be read is reported as a
   * problem of that file.
   */
  async refresh(selection: LogSelection = {}, options: CallOptions = {}): Promise<void> {
    while (!this.#isFresh(selection)) await this.#refreshing.run(() => this.#refresh(selection), options);
  }

  /** Stops its users and removes the mirrored files. */
  async close(): Promise<void> {
    this.#abortController.abort(new Error('the mirror is closed'));
    await this.#refreshing.last();
    await this.#dirs.close();
  }

  #isFresh(selection: LogSelection): boolean {
    const readMs = Math.max(
      ...[selectionKey({}), selectionKey(selection)].map((part) => this.#refreshedMs.get(part) ?? -Infinity),
    );
    return performance.now() - readMs < this.#freshMs;
  }

  async #refresh(selection: LogSelection): Promise<void> {
    const { node, limits } = this.#options;
    const startedMs = performance.now();
    const { signal } = this.#abortController;
    signal.throwIfAborted();
    const entries = await node.listLogs({ signal });
    const atMs = Date.now();
    await this.#dirs.prepare();
    this.#listed = entries;
    const plan = planFiles(entries, { ...limits, selection });
    this.#planProblems = plan.problems;
    await this.#followRotations(plan.files);
    await inParallel(plan.files, FILES_AT_ONCE, (entry) => this.#readFile(entry));
    await this.#dropRemoved(new Set(entries.map(({ name }) => name)));
    await this.#cutLarge();
    for (const [part, readMs] of this.#refreshedMs)
      if (startedMs - readMs > this.#freshMs) this.#refreshedMs.delete(part);
    this.#refreshedMs.set(selectionKey(selection), performance.now());
    this.asOfMs = atMs;
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
    const rest = await this.#source.readRest(known, entry).catch(expectFailure); // then it is read like any other file
    if (rest === undefined) return false;
    await this.#append(live, known, { ...rest, size: entry.size });
    await this.#dirs.write((dir) => dir.move(live, entry.name));
    this.#files.set(entry.name, this.#files.get(live) ?? known);
    this.#files.delete(live);
    return true;
  }

  async #readFile(entry: LogEntry): Promise<void> {
    const known = this.#files.get(entry.name);
    if (known?.size === entry.size && !this.#problems.has(entry.name)) return;
    try {
      this.#problems.delete(entry.name);
      if (known === undefined) await this.#readFirst(entry);
      else await this.#readMore(known, entry);
    } catch (thrown) {
      const { signal } = this.#abortController;
      signal.throwIfAborted();
      const error = await viewFailure(this.#options.node, { file: entry.name, error: thrown, signal });
      const detail = errorMessage(error);
      this.#problems.set(entry.name, { file: entry.name, code: codeOf(error), detail });
    }
  }

  /** Reads a file from scratch. `lost`: there was a mirrored part before that does not join. */
  async #readFirst(entry: LogEntry, { lost }: { lost?: MirroredFile } = {}): Promise<void> {
    const { name, size, bytes, isCut, isWhole } = await this.#source.readFirst(entry);
    const isGrown = lost !== undefined && size >= lost.endBytes;
    const missing = size - (isGrown ? lost.endBytes : 0) - bytes.length;
    // Before it is written: followers must get the gap before the text after it.
    const isKnown = missing > 0 && (isGrown || !lost);
    if (lost || !isWhole) this.#emitMissed({ file: name, bytes: isKnown ? missing : null });
    await this.#dirs.write((dir) => dir.put(name, bytes));
    this.#files.set(name, firstRead(bytes, { size, isCut, isWhole }));
    this.#noteCut(name, isCut);
  }

  async #readMore(known: MirroredFile, entry: LogEntry): Promise<void> {
    // An empty file cannot be joined: LinDB drops the first line of a response.
    if (known.size === 0 && known.heldBytes === 0) return this.#readFirst(entry);
    // At most one byte less: a newline that the node added.
    const isShorter = entry.size < known.endBytes - 1;
    const rest = isShorter ? undefined : await this.#source.readRest(known, entry);
    if (rest !== undefined) return this.#append(entry.name, known, { ...rest, size: entry.size });
    // Truncated, replaced, or grown by more than the node serves: start over.
    await this.#readFirst(entry, { lost: known });
  }

  #emitMissed(missed: MissedPart): void {
    for (const listener of this.#listeners) listener(missed);
  }

  async #append(name: string, known: MirroredFile, { bytes, before, size }: Rest & { size: number }): Promise<void> {
    if (bytes.length > 0) await this.#dirs.write((dir) => dir.append(name, bytes));
    this.#files.set(name, afterAppend(known, { bytes, before }, size));
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
      await this.#dirs.write((dir) => dir.remove(name));
    }
  }

  /** Cuts files that are too large to their newest half. */
  async #cutLarge(): Promise<void> {
    const { maxTotalBytes, maxFileBytes } = this.#options.limits;
    const held = [...this.#files].map(([name, { heldBytes }]) => ({ name, heldBytes }));
    const totalBytes = held.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
    const isLarge = held.some(({ heldBytes }) => heldBytes > maxFileBytes);
    if (!isLarge && totalBytes <= maxTotalBytes * MAX_GROWTH) return;
    const maxBytes = Math.min(maxFileBytes / 2, Math.floor(maxTotalBytes / held.length));
    const copied = await this.#dirs.cut(held, maxBytes);
    for (const [name, file] of this.#files) {
      const heldBytes = copied.get(name) ?? 0;
      this.#files.set(name, { ...file, heldBytes, isWhole: file.isWhole && heldBytes === file.heldBytes });
    }
  }
}

function selectionKey({ file, family }: LogSelection): string {
  return JSON.stringify([file, family]);
}
