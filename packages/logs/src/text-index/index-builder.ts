import { setTimeout as sleep } from 'node:timers/promises';
import { LIVE_STEP_BYTES, OPEN_BYTES } from '../block-index/live-texts.ts';
import { isPackedName } from '../file/compression.ts';
import { fileStamp } from '../file/file-stamp.ts';
import { LogError, ThreadLost } from '../log-error.ts';
import type { SeenFile } from '../read/list.ts';
import type { IndexedText } from './index-text.ts';

/** Smaller texts are scanned in no time. Archives contain about ten times their size. */
const MIN_BYTES = 4 * 1024 ** 2;
const MIN_PACKED_BYTES = 512 * 1024;

/** The share of a core: below 5 %, with what else a node does. */
const DUTY = 0.04;

/**
 * A file that has changed since it was indexed must be compared as a whole. One that keeps changing is left alone for
 * this long, and each time for twice as long.
 */
const CHANGED_MS = 600_000;
const MAX_CHANGED_MS = 86_400_000;

/** To make room for a text that was searched, those are removed that were not used for an hour; for others, for a day. */
const SCANNED_IDLE_MS = 3_600_000;
const OTHER_IDLE_MS = 86_400_000;

/** Files that were changed more recently have no stamp that proves anything. */
const SETTLED_MS = 61_000;

/** Each of them is examined once a minute. */
const MAX_UNSETTLED = 16;

/** From this size on, a file is indexed while it is being written. */
const MIN_LIVE_BYTES = LIVE_STEP_BYTES + OPEN_BYTES;

/** Files of a directory that are remembered. */
const MAX_NAMES = 10_000;

export interface IndexBuilderDeps {
  list(): Promise<SeenFile[]>;
  /** Builds or verifies the next segment of a file. */
  indexText(name: string, options: { signal: AbortSignal; most: number }): Promise<IndexedText>;
  store: {
    /** What may be removed to make room: texts that were not used for this long. */
    evictIdleMs: number;
    /** Segments that were not kept because there was no room, and because they could not be written. */
    readonly refused: number;
    readonly failed: number;
  };
  /** CPU time of the process so far, in milliseconds. */
  cpuMs?(): number;
  pause?(ms: number, signal: AbortSignal): Promise<void>;
}

/** What is known of a file by its name. */
interface Attempt {
  /** With this stamp, nothing is left to do. */
  stamp: string;
  /** When it was found to have changed again, and how often. */
  changes: number;
}

/**
 * A file that can be indexed at this time, if it still has this stamp then; if not, this much after it has changed, or
 * whenever it has this size.
 */
export interface UnsettledFile {
  stamp: string;
  dueMs: number;
  waitMs: number;
  grownBytes: number;
}

/** Indexes the files of a directory, one segment at a time, with long pauses. */
export class IndexBuilder {
  readonly #deps: IndexBuilderDeps;
  readonly #attempts = new Map<string, Attempt>();
  /** Files that were searched without an index, the last one last. */
  readonly #scanned = new Set<string>();
  /** Large files that were changed too recently, by name. */
  readonly unsettled = new Map<string, UnsettledFile>();

  constructor(deps: IndexBuilderDeps) {
    this.#deps = deps;
  }

  noteScanned(name: string): void {
    this.#scanned.delete(name);
    if (this.#scanned.size < MAX_NAMES) this.#scanned.add(name);
  }

  /**
   * Ends when nothing is left to do, which it returns, when something cannot be written, or when the signal aborts.
   * Beside searches, it builds one segment of a file that need not be decompressed: a fraction of a second of one thread.
   */
  async run(signal: AbortSignal, { isBusy = false } = {}): Promise<boolean> {
    try {
      for (const { name, stats } of this.#order(await this.#deps.list())) {
        if (signal.aborted) return false;
        const stamp = seenStamp(stats);
        if (this.#isDone(name, stamp) || (isBusy && isPackedName(name))) continue;
        const isQuiet = this.#isQuiet(name, stats);
        if (!isQuiet && (isPackedName(name) || stats.size < MIN_LIVE_BYTES)) continue;
        if (!(await this.#indexFile(name, stamp, { signal, isBusy, isQuiet }))) return false;
      }
      return true;
    } catch (error) {
      // Cancelled, or the directory cannot be listed at the moment.
      if (!signal.aborted && !(error instanceof LogError)) throw error;
      return false;
    }
  }

  /** Those that were searched, then the newest first. */
  #order(files: readonly SeenFile[]): SeenFile[] {
    const large = files.filter(({ name, size }) => size >= (isPackedName(name) ? MIN_PACKED_BYTES : MIN_BYTES));
    const ranks = new Map(Array.from(this.#scanned, (name, rank) => [name, rank]));
    this.unsettled.clear();
    return large.sort(
      (a, b) => (ranks.get(b.name) ?? -1) - (ranks.get(a.name) ?? -1) || Number(b.stats.mtimeNs - a.stats.mtimeNs),
    );
  }

  /** A search that found nothing of a file says that its index was removed, or never kept. */
  #isDone(name: string, stamp: string): boolean {
    return this.#attempts.get(name)?.stamp === stamp && !this.#scanned.has(name);
  }

  #isQuiet(name: string, stats: SeenFile['stats']): boolean {
    const { changes = 0 } = this.#attempts.get(name) ?? {};
    const waitMs = changes === 0 ? SETTLED_MS : Math.min(CHANGED_MS * 2 ** (changes - 1), MAX_CHANGED_MS);
    const changedNs = stats.mtimeNs > stats.ctimeNs ? stats.mtimeNs : stats.ctimeNs;
    const dueMs = Number(changedNs / 1_000_000n) + waitMs;
    if (Date.now() >= dueMs) return true; // clock: compared with times of the file system
    if (this.unsettled.size < MAX_UNSETTLED) {
      const grownBytes = isPackedName(name) ? Infinity : MIN_LIVE_BYTES;
      this.unsettled.set(name, { stamp: seenStamp(stats), dueMs, waitMs, grownBytes });
    }
    return false;
  }

  /** False: it is tried again later. */
  async #indexFile(
    name: string,
    seen: string,
    { signal, isBusy, isQuiet }: { signal: AbortSignal; isBusy: boolean; isQuiet: boolean },
  ): Promise<boolean> {
    const { indexText, store, pause = pauseFor, cpuMs = processCpuMs } = this.#deps;
    store.evictIdleMs = this.#scanned.has(name) ? SCANNED_IDLE_MS : OTHER_IDLE_MS;
    for (;;) {
      const [startMs, { refused, failed }] = [cpuMs(), store];
      const { isDone, stamp, built, renewed, grownBytes } = await indexText(name, { signal, most: 1 }).catch(ifGone);
      if (store.failed > failed) return false;
      const isOver = isDone || store.refused > refused;
      if (isOver && isQuiet) this.#note(name, stamp ?? seen);
      if (isOver && !isQuiet) this.#noteGrowing(name, grownBytes);
      if (isBusy && built + renewed > 0) return false;
      await pause((cpuMs() - startMs) * (1 / DUTY - 1), signal);
      if (isOver) return true;
    }
  }

  /** There is more to do once it has this size. */
  #noteGrowing(name: string, grownBytes = Infinity): void {
    const waiting = this.unsettled.get(name);
    if (waiting) this.unsettled.set(name, { ...waiting, grownBytes });
    this.#scanned.delete(name);
  }

  #note(name: string, stamp: string): void {
    const { changes = -1 } = this.#attempts.get(name) ?? {};
    if (this.#attempts.size >= MAX_NAMES) this.#attempts.clear();
    this.#attempts.set(name, { stamp, changes: changes + 1 });
    this.#scanned.delete(name);
  }
}

export function seenStamp({ dev, ino, size, mtimeNs, ctimeNs }: SeenFile['stats']): string {
  return fileStamp({ dev, ino, sizeBytes: Number(size), modifiedNs: mtimeNs, changedNs: ctimeNs });
}

const GONE = { isDone: true, stamp: undefined, built: 0, renewed: 0, grownBytes: undefined };

/** For `.catch`: a file that cannot be read, or no longer, is left alone until it changes. */
function ifGone(error: unknown): typeof GONE {
  if (!(error instanceof LogError || error instanceof ThreadLost)) throw error;
  return GONE;
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false });
}
