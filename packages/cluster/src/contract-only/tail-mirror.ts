import { type CallOptions, codeOf, type NodeState } from '@porthole/contract';
import { groupFamilies, type Scrubbing, type WorkerPool, type Zone } from '@porthole/logs';
import type { FileProblem, LogEntry, LogSelection } from '@porthole/logs/types';
import { inParallel } from '../fan-out/in-parallel.ts';
import { orAborted } from '../fan-out/or-aborted.ts';
import { fetchTail, LONGEST_LINE_BYTES, type Tail, viewFailure } from './fetch-tail.ts';
import { joinTail } from './join-tail.ts';
import { MirrorDir } from './mirror-dir.ts';
import { afterAppend, firstRead, KNOWN_BYTES, type MirroredFile } from './mirrored-file.ts';
import { planFiles, type TailLimits } from './plan-files.ts';

const NEWLINE = 10;

/** Files that are read from the node at the same time. */
const FILES_AT_ONCE = 4;

/** Cut when all files together are this many times what is read at first. */
const MAX_GROWTH = 2;

/** Views of a file that is written all the while. */
const MAX_TRIES = 3;

/** The files a log that was rotated may have become; more are not tried. */
const MAX_CANDIDATES = 3;

export interface TailMirrorOptions {
  node: Pick<NodeState, 'listLogs' | 'viewLog'>;
  zone: Zone;
  limits: TailLimits;
  threads: WorkerPool;
  /** What is masked in what is read from them. */
  scrubbing: Scrubbing;
  /** What was listed so lately is not listed again. */
  freshMs: number;
}

/** What follows what is known of a file. */
interface Rest {
  bytes: Buffer;
  /** What is known, as the file has it. */
  before: Buffer;
}

/** Something was written to a log that was not read: more than the newest part that the node serves. */
export interface MissedPart {
  file: string;
  bytes: number | null;
}

/** The newest part of each file of a node that serves nothing else, kept up to date by what it lists. */
export class TailMirror {
  readonly #options: TailMirrorOptions;
  readonly #files = new Map<string, MirroredFile>();
  readonly #listeners = new Set<(missed: MissedPart) => void>();
  /** The one for new questions is the last; the others have followers. */
  #dirs: MirrorDir[] = [];
  #listed: LogEntry[] = [];
  #planProblems: FileProblem[] = [];
  readonly #problems = new Map<string, FileProblem>();
  #refreshing: Promise<void> | undefined;
  /** When which part was read, by `partOf`. */
  readonly #refreshedMs = new Map<string, number>();
  /** Wall clock of the last listing. */
  asOfMs = 0;
  readonly #leaving = new AbortController();
  readonly #freshMs: number;

  constructor(options: TailMirrorOptions) {
    this.#options = options;
    this.#freshMs = options.freshMs;
  }

  /** As the node listed them, those included that were not read. */
  get listed(): readonly LogEntry[] {
    return this.#listed;
  }

  get files(): ReadonlyMap<string, Readonly<MirroredFile>> {
    return this.#files;
  }

  get problems(): readonly FileProblem[] {
    return [...this.#problems.values(), ...this.#planProblems];
  }

  /** Called for what could not be read, before what was written behind it is there. */
  onMissed(listener: (missed: MissedPart) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The directory with what is known, in use until released. Only after a refresh. */
  use(): { dir: MirrorDir; release: () => void } {
    const dir = this.#dirs.at(-1);
    if (dir === undefined) throw new Error('the tails are used before they are read');
    return { dir, release: dir.use() };
  }

  /**
   * Reads what the listed sizes say is new in the selected files; others are as they were. One at a time and shared, so a
   * caller's signal ends only its own waiting. Rejects when the node does not list its files; a file that cannot be read
   * is a problem of that file.
   */
  async refresh(selection: LogSelection = {}, { signal }: CallOptions = {}): Promise<void> {
    while (!this.#isFresh(selection)) {
      this.#refreshing ??= this.#refresh(selection).finally(() => {
        this.#refreshing = undefined;
      });
      await orAborted(this.#refreshing, signal);
    }
  }

  /** Ends everything that uses it and removes what was kept. */
  async close(): Promise<void> {
    this.#leaving.abort(new Error('the tails are closed'));
    await this.#refreshing?.catch(() => {}); // who asked for it was told
    await Promise.all(this.#dirs.map((dir) => dir.close()));
    this.#dirs = [];
  }

  #isFresh(selection: LogSelection): boolean {
    const readMs = Math.max(...[partOf({}), partOf(selection)].map((part) => this.#refreshedMs.get(part) ?? -Infinity));
    return performance.now() - readMs < this.#freshMs;
  }

  async #refresh(selection: LogSelection): Promise<void> {
    const { node, limits } = this.#options;
    const startedMs = performance.now();
    const { signal } = this.#leaving;
    signal.throwIfAborted();
    const entries = await node.listLogs({ signal });
    const atMs = Date.now();
    if (this.#dirs.length === 0) this.#dirs = [await this.#createDir()];
    this.#dirs = this.#dirs.filter((dir, place) => place === this.#dirs.length - 1 || dir.isUsed);
    this.#listed = entries;
    const plan = planFiles(entries, { ...limits, selection });
    this.#planProblems = plan.problems;
    await this.#followRotations(plan.files);
    await inParallel(plan.files, FILES_AT_ONCE, (entry) => this.#readFile(entry));
    await this.#dropGone(new Set(entries.map(({ name }) => name)));
    await this.#cutLarge();
    for (const [part, readMs] of this.#refreshedMs)
      if (startedMs - readMs > this.#freshMs) this.#refreshedMs.delete(part);
    this.#refreshedMs.set(partOf(selection), performance.now());
    this.asOfMs = atMs;
  }

  async #createDir(): Promise<MirrorDir> {
    const { zone, threads, scrubbing } = this.#options;
    return MirrorDir.create({ zone, threads, scrubbing });
  }

  /** A log that was moved aside on the node is moved aside here, once all of it is read: its records stay the same ones. */
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

  /** Whether `entry` is the file that was `live` before; then it has its copy from now on, and `live` is a new one. */
  async #adopt(live: string, entry: LogEntry): Promise<boolean> {
    const known = this.#files.get(live);
    if (known === undefined || known.known.length === 0) return false;
    const rest = await this.#restOf(known, entry).catch(() => undefined); // then it is read like any other file
    if (rest === undefined) return false;
    await this.#append(live, known, { ...rest, size: entry.size });
    for (const dir of this.#dirs) await dir.move(live, entry.name);
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
      const { signal } = this.#leaving;
      signal.throwIfAborted();
      const error = await viewFailure(this.#options.node, { file: entry.name, error: thrown, signal });
      const detail = error instanceof Error ? error.message : String(error);
      this.#problems.set(entry.name, { file: entry.name, code: codeOf(error), detail });
    }
  }

  /** Reads a file of which nothing is known that joins what it has now. `lost`: there was something before. */
  async #readFirst(entry: LogEntry, { lost }: { lost?: MirroredFile } = {}): Promise<void> {
    const { name, size, bytes, isCut, isWhole } = await this.#fetchFirst(entry);
    const isGrown = lost !== undefined && size >= lost.endBytes;
    const missing = size - (isGrown ? lost.endBytes : 0) - bytes.length;
    // Before it is there: who follows is told of the gap before what comes behind it.
    const isKnown = missing > 0 && (isGrown || !lost);
    if (lost || !isWhole) this.#tellMissed({ file: name, bytes: isKnown ? missing : null });
    for (const dir of this.#dirs) await dir.put(name, bytes);
    this.#files.set(name, firstRead(bytes, { size, isCut, isWhole }));
    this.#noteCut(name, isCut);
  }

  async #readMore(known: MirroredFile, entry: LogEntry): Promise<void> {
    // Of an empty one nothing can be recognised: LinDB drops the first line of what it sends.
    if (known.size === 0 && known.heldBytes === 0) return this.#readFirst(entry);
    // By one byte less at most: a newline that the node had added.
    const isShorter = entry.size < known.endBytes - 1;
    const rest = isShorter ? undefined : await this.#restOf(known, entry);
    if (rest !== undefined) return this.#append(entry.name, known, { ...rest, size: entry.size });
    // Truncated, replaced, or more was written than the node serves: what is there now is all that is known.
    await this.#readFirst(entry, { lost: known });
  }

  #tellMissed(missed: MissedPart): void {
    for (const listener of this.#listeners) listener(missed);
  }

  /** What was appended since; `undefined` where the newest part does not join what is known. */
  async #restOf(known: MirroredFile, entry: LogEntry): Promise<Rest | undefined> {
    const grownBytes = Math.max(0, entry.size - known.endBytes);
    const { tailBytes } = this.#options.limits;
    const wishes = [grownBytes + KNOWN_BYTES, tailBytes].filter((bytes) => bytes <= tailBytes);
    for (const wantedBytes of new Set(wishes)) {
      const { bytes } = await this.#fetch(entry, wantedBytes);
      const joined = joinTail(known.known, bytes, { grownBytes });
      if (joined === undefined) continue;
      const rest = bytes.subarray(joined.at);
      const before = joined.known;
      // One byte more than was written is a newline that the node added to a line that is not finished. More was written
      // since the list: then the last line may be such a one, and is read again.
      if (rest.length === grownBytes + 1) return { bytes: rest.subarray(0, -1), before };
      return { bytes: rest.length > grownBytes ? withoutLastLine(rest) : rest, before };
    }
    return undefined;
  }

  async #append(name: string, known: MirroredFile, { bytes, before, size }: Rest & { size: number }): Promise<void> {
    if (bytes.length > 0) for (const dir of this.#dirs) await dir.append(name, bytes);
    this.#files.set(name, afterAppend(known, { bytes, before }, size));
    this.#noteCut(name, known.isCut);
  }

  /**
   * The newest part of a file whose size is the same before and after: only then it is known that its last line is whole,
   * and whether the first one is missing. Of a file that is written all the while, without its last line.
   */
  async #fetchFirst(entry: LogEntry): Promise<LogEntry & Tail & { isWhole: boolean }> {
    const { node, limits } = this.#options;
    let { size } = entry;
    for (let tries = 1; ; tries++) {
      const tail = await this.#fetch({ name: entry.name, size }, limits.tailBytes);
      const entries = size === 0 ? [] : await node.listLogs({ signal: this.#leaving.signal });
      const sizeNow = entries.find(({ name }) => name === entry.name)?.size ?? size;
      if (sizeNow === size) return { ...entry, size, ...tail, isWhole: tail.bytes.length >= size };
      // With the size of before: the next list has another, and the rest is read.
      if (tries === MAX_TRIES) return { ...entry, size, ...tail, bytes: withoutLastLine(tail.bytes), isWhole: false };
      size = sizeNow;
    }
  }

  #fetch({ name, size }: LogEntry, wantedBytes: number) {
    return fetchTail(this.#options.node, { file: name, size, wantedBytes, signal: this.#leaving.signal });
  }

  #noteCut(file: string, isCut: boolean): void {
    if (!isCut) return;
    const detail = `the node sends nothing before a line of ${LONGEST_LINE_BYTES} bytes or more, and not that line`;
    this.#problems.set(file, { file, code: 'LOG_FILE_UNREADABLE', detail });
  }

  async #dropGone(wanted: ReadonlySet<string>): Promise<void> {
    for (const name of this.#problems.keys()) if (!wanted.has(name)) this.#problems.delete(name);
    for (const name of this.#files.keys()) {
      if (wanted.has(name)) continue;
      this.#files.delete(name);
      for (const dir of this.#dirs) await dir.remove(name);
    }
  }

  /** Copies the newest half of what is too large into a new directory. Who follows stays where it is, with less behind it. */
  async #cutLarge(): Promise<void> {
    const { maxTotalBytes, maxFileBytes } = this.#options.limits;
    const held = [...this.#files].map(([name, { heldBytes }]) => ({ name, heldBytes }));
    const totalBytes = held.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
    const isLarge = held.some(({ heldBytes }) => heldBytes > maxFileBytes);
    if (!isLarge && totalBytes <= maxTotalBytes * MAX_GROWTH) return;
    const maxBytes = Math.min(maxFileBytes / 2, Math.floor(maxTotalBytes / held.length));
    const before = this.#dirs.at(-1);
    const next = await this.#createDir();
    for (const { name, heldBytes } of held) {
      const file = this.#files.get(name);
      const copied = (await before?.copyTo(next, { name, maxBytes })) ?? 0;
      if (file) this.#files.set(name, { ...file, heldBytes: copied, isWhole: file.isWhole && copied === heldBytes });
      for (const dir of this.#dirs) if (heldBytes > maxBytes) await dir.moveAside(name);
    }
    await before?.retire();
    this.#dirs = [...this.#dirs.filter((dir) => dir.isUsed), next];
  }
}

function partOf({ file, family }: LogSelection): string {
  return JSON.stringify([file, family]);
}

function withoutLastLine(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf(NEWLINE, -2) + 1);
}
