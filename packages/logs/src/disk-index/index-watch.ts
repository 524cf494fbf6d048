import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { statsStamp } from '../file/file-stamp.ts';
import { isSystemError, LogError } from '../log-error.ts';
import type { SeenFile } from '../read/list.ts';
import { NO_WORK, owned } from '../shared.ts';
import type { UnsettledFile } from '../text-index/index-builder.ts';
import type { DiskIndex } from './disk-index.ts';

/** A node that has just started has more urgent things to do. */
const START_MS = 10_000;

/** A rotation is noticed this much later, by the time of the directory. */
const TICK_MS = 60_000;

/** Smaller files are not indexed; archives contain several times their size. */
const MIN_INDEXED_BYTES = 512 * 1024;

/** The times of a directory say nothing about those below it. */
const TREE_TICKS = 10;

export interface IndexWatchDeps extends WatchTimes {
  path: string;
  /** All files are directly in the directory. */
  isFlat: boolean;
  /** Files that can be indexed once they have not changed for some time. */
  unsettled(): Map<string, UnsettledFile> | undefined;
  onChange(): Promise<void>;
  /** Something failed that should not. It is tried again with the next tick. */
  onError(error: unknown): void;
}

export interface WatchTimes {
  /** When it looks for the first time, and how often after that; for tests. */
  startMs?: number | undefined;
  tickMs?: number | undefined;
}

/**
 * Notices that files were added or rotated, or have come to rest. Costs one `stat` a minute: events of the file system
 * would arrive with every line that is logged.
 */
export class IndexWatch {
  readonly #deps: IndexWatchDeps;
  #timer: NodeJS.Timeout | undefined;
  #stamp = '';
  #ticks = 0;
  #ticking = NO_WORK;
  #closed = false;

  constructor(deps: IndexWatchDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#schedule(this.#deps.startMs ?? START_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#ticking;
  }

  #schedule(ms: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      const tick = this.#tick().finally(() => this.#schedule(this.#deps.tickMs ?? TICK_MS));
      this.#ticking = owned(tick, this.#deps.onError);
    }, ms).unref();
  }

  async #tick(): Promise<void> {
    const { path, isFlat, unsettled, onChange } = this.#deps;
    const stats = await statOf(path);
    const stamp = stats && statsStamp(stats);
    const isTreeDue = !isFlat && this.#ticks++ % TREE_TICKS === 0;
    const isChanged = stamp !== this.#stamp;
    this.#stamp = stamp ?? '';
    if (isChanged || isTreeDue || (await isAnySettled(path, unsettled()))) await onChange();
  }
}

interface BuildOnChangeDeps extends Pick<IndexWatchDeps, 'path' | 'isFlat' | 'onError'> {
  list(): Promise<SeenFile[]>;
  /** The index, if it is loaded already; and loads it. */
  loaded(): DiskIndex | undefined;
  load(): Promise<DiskIndex | undefined>;
}

/** Has the index built when there is something to build. It is not loaded for logs that are not worth it. */
export function watchForIndex({ list, loaded, load, ...deps }: BuildOnChangeDeps, times?: WatchTimes): IndexWatch {
  const onChange = async () => {
    const files = await list().catch(nothingIfUnreadable);
    if (files.some(({ size }) => size >= MIN_INDEXED_BYTES)) (await load())?.keeper.wake();
  };
  const watch = new IndexWatch({ ...deps, ...times, unsettled: () => loaded()?.builder.unsettled, onChange });
  watch.start();
  return watch;
}

async function isAnySettled(dir: string, files: Map<string, UnsettledFile> | undefined): Promise<boolean> {
  for (const [name, { stamp, dueMs, waitMs, grownBytes }] of files ?? []) {
    const isDue = Date.now() >= dueMs; // clock: compared with times of the file system
    if (!isDue && grownBytes === Infinity) continue;
    const stats = await statOf(join(dir, name));
    if (!stats) continue;
    const current = statsStamp(stats);
    if (stats.size >= grownBytes || (current === stamp && isDue)) return true;
    // clock: compared with times of the file system
    if (isDue) files?.set(name, { stamp: current, dueMs: Date.now() + waitMs, waitMs, grownBytes });
  }
  return false;
}

/** `undefined` if there is no such file. */
async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
}

/** For `.catch`: of logs that cannot be listed, nothing is kept. */
export function nothingIfUnreadable(error: unknown): SeenFile[] {
  if (!(error instanceof LogError)) throw error;
  return [];
}
