import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isSystemError } from '../../log-error.ts';

/** Polls between attempts to watch a directory that cannot be watched (limit of watches reached, not supported). */
const RETRY_POLLS = 20;

export interface DirWatchOptions {
  dir: string;
  pollMs: number;
  /** `false`: polls only, as on file systems that report no changes, or if nobody needs them. */
  events(): boolean;
  /** Something happened to this entry, or to an unknown one. `entries`: names were created, renamed or deleted. */
  onEvent(name: string | undefined, entries: boolean): void;
  onPoll(): void;
  /** Whether it keeps the process alive: not for whoever only counts. */
  keepsAlive(): boolean;
}

/**
 * Reports when to read a directory: on events of the file system, and at regular intervals in case there are none. A
 * directory that is deleted and created again is watched again.
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
    if (this.#running && (this.#watcher || !this.#options.events())) return;
    if (!this.#running) this.#schedule();
    this.#running = true;
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
    this.keepAlive();
  }

  /** To be called when `keepsAlive` has changed. */
  keepAlive(): void {
    for (const handle of [this.#timer, this.#watcher]) {
      if (this.#options.keepsAlive()) handle?.ref();
      else handle?.unref();
    }
  }

  async #poll(): Promise<void> {
    this.#options.onPoll();
    await this.#rewatch();
    if (this.#running) this.#schedule();
  }

  /** A watcher stays with the directory it was created for; a directory that replaced it needs a new one. */
  async #rewatch(): Promise<void> {
    const { dir, events } = this.#options;
    if (!events()) return this.#unwatch();
    const id = await stat(dir, { bigint: true }).then(
      ({ dev, ino, birthtimeNs }) => `${dev}:${ino}:${birthtimeNs}`,
      (error: unknown) => {
        if (!isSystemError(error)) throw error;
        return '';
      },
    );
    if (!this.#running || (id !== '' && id === this.#watchedId && this.#watcher)) return;
    this.#unwatch();
    if (id === '' || this.#pollsToRetry-- > 0) return;
    try {
      this.#watcher = watch(dir, (type, name) => this.#options.onEvent(name ?? undefined, type === 'rename'));
      this.#watcher.on('error', () => this.#failed());
      this.#watchedId = id;
      this.keepAlive();
      // Changes before the watcher existed are not reported.
      this.#options.onEvent(undefined, true);
    } catch (error) {
      if (!isSystemError(error)) throw error;
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
