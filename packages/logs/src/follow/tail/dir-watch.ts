import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';

/** Polls between attempts to watch a directory that cannot be watched (no more watches to be had, not supported). */
const RETRY_POLLS = 20;

export interface DirWatchOptions {
  dir: string;
  pollMs: number;
  /** Off: polls only, as on file systems that tell no changes. */
  events: boolean;
  /** Something happened to this entry, or to one that is not told. `entries`: names came or went. */
  onEvent(name: string | undefined, entries: boolean): void;
  onPoll(): void;
}

/**
 * Tells when to look at a directory: as soon as the system says so, and every so often in case it says nothing.
 * Survives the directory itself: when it comes back, it is watched again.
 */
export class DirWatch {
  readonly #options: DirWatchOptions;
  #watcher: FSWatcher | undefined;
  #watchedId = '';
  #timer: NodeJS.Timeout | undefined;
  #pollsToRetry = 0;
  #running = false;

  constructor(options: DirWatchOptions) {
    this.#options = options;
  }

  get watchers(): number {
    return this.#watcher ? 1 : 0;
  }

  async start(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    this.#schedule();
    await this.#rewatch();
  }

  stop(): void {
    this.#running = false;
    clearTimeout(this.#timer);
    this.#unwatch();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#poll(), this.#options.pollMs);
  }

  async #poll(): Promise<void> {
    this.#options.onPoll();
    await this.#rewatch();
    if (this.#running) this.#schedule();
  }

  /** A watcher stays with the directory it was made for: it must be made anew for one that took its place. */
  async #rewatch(): Promise<void> {
    const { dir, events } = this.#options;
    if (!events) return;
    const id = await stat(dir, { bigint: true }).then(
      ({ dev, ino, birthtimeNs }) => `${dev}:${ino}:${birthtimeNs}`,
      () => '',
    );
    if (!this.#running || (id !== '' && id === this.#watchedId && this.#watcher)) return;
    this.#unwatch();
    if (id === '' || this.#pollsToRetry-- > 0) return;
    try {
      this.#watcher = watch(dir, (type, name) => this.#options.onEvent(name ?? undefined, type === 'rename'));
      this.#watcher.on('error', () => this.#failed());
      this.#watchedId = id;
      // What happened before the watcher was there is not told.
      this.#options.onEvent(undefined, true);
    } catch {
      this.#failed();
    }
  }

  #failed(): void {
    this.#unwatch();
    this.#pollsToRetry = RETRY_POLLS;
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#watchedId = '';
  }
}
