import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '../own-log/logger.ts';

/** Watching misses changes on network file systems, and links that are turned around further up; look again this often. */
const POLL_MS = 5000;

/** A certificate and its key are two files, and written one after the other. */
const SETTLE_MS = 100;

/** Files that are taken together: all of them, or the old ones stay. */
export interface ReloadedGroup {
  /** The setting that names them, for people. */
  setting: string;
  paths: readonly string[];
  /** Takes what is there now. What it throws keeps what was there before. */
  reload(): Promise<void>;
}

interface Watched extends ReloadedGroup {
  /** What the files were when they were last taken. */
  mark: string;
  failure: string | undefined;
}

/** Looks after files with credentials: when they change, they are taken again. */
export class ReloadedFiles {
  readonly #groups: Watched[] = [];
  readonly #log: Logger;
  readonly #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #checking: Promise<void> = Promise.resolve();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The settings whose files could not be taken when they last changed, and why. */
  get failures(): { setting: string; detail: string }[] {
    return this.#groups.flatMap(({ setting, failure }) =>
      failure === undefined ? [] : [{ setting, detail: failure }],
    );
  }

  /** Begins to look, and takes what was written since the groups were first read. */
  async start(groups: readonly ReloadedGroup[]): Promise<void> {
    if (groups.length === 0) return;
    for (const group of groups) {
      const watched = { ...group, mark: await readMark(group), failure: undefined };
      this.#groups.push(watched);
      await this.#reload(watched);
    }
    for (const dir of new Set(groups.flatMap(({ paths }) => paths.map(dirname)))) this.#watch(dir);
    this.#timer = setInterval(() => void this.check(), POLL_MS).unref();
  }

  /** Takes again what has changed; with `all`, also what has not. One look at a time. */
  check({ all = false }: { all?: boolean } = {}): Promise<void> {
    this.#checking = this.#checking.then(async () => {
      for (const group of this.#groups) await this.#checkGroup(group, all);
    });
    return this.#checking;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    for (const watcher of this.#watchers) watcher.close();
    await this.#checking;
  }

  #watch(dir: string): void {
    try {
      const watcher = watch(dir, { persistent: false }, () => {
        clearTimeout(this.#soon);
        this.#soon = setTimeout(() => void this.check(), SETTLE_MS).unref();
      });
      // The directory may go; looking now and then remains.
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    } catch {
      // Not every file system can be watched.
    }
  }

  async #checkGroup(group: Watched, all: boolean): Promise<void> {
    // Before reading: what is written meanwhile is seen the next time.
    const mark = await readMark(group);
    if (mark === group.mark && !all) return;
    group.mark = mark;
    if (await this.#reload(group))
      this.#log.info('reload', 'files were read again', { setting: group.setting, files: group.paths });
  }

  async #reload(group: Watched): Promise<boolean> {
    try {
      await group.reload();
      group.failure = undefined;
      return true;
    } catch (error) {
      group.failure = error instanceof Error ? error.message : String(error);
      const context = { setting: group.setting, detail: group.failure };
      this.#log.error('reload', 'changed files cannot be used; what was read before still counts', context);
      return false;
    }
  }
}

/** Changes with every change of a file, and when it comes or goes. */
async function readMark({ paths }: ReloadedGroup): Promise<string> {
  const marks = paths.map(async (path) => {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
      return [dev, ino, size, mtimeNs, ctimeNs].join(':');
    } catch (error) {
      return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    }
  });
  return (await Promise.all(marks)).join('/');
}
