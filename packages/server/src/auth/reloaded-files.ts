import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { types } from 'node:util';
import { errorMessage } from '@porthole/contract';
import { NO_WORK, owned } from '@porthole/logs/shared';
import type { Logger } from '../own-log/own-log.ts';

/** Watching misses changes on network file systems and of symbolic links higher up; poll this often as well. */
const POLL_MS = 5000;

/** A certificate and its key are two files, written one after the other: wait for both. */
const SETTLE_MS = 100;

/** Files that are reloaded together or not at all. */
export interface ReloadedGroup {
  /** The setting they belong to, for messages. */
  setting: string;
  paths: readonly string[];
  /** Loads the current files. If it throws, the previous version stays in use. */
  reload(): Promise<void>;
}

interface Watched extends ReloadedGroup {
  /** State of the files when they were last loaded. */
  mark: string;
  failure: string | undefined;
}

/** Watches credential files and reloads them when they change. */
export class ReloadedFiles {
  readonly #groups: Watched[] = [];
  readonly #log: Logger;
  readonly #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #checking = NO_WORK;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The settings whose changed files could not be loaded, and why. */
  get failures(): { setting: string; detail: string }[] {
    return this.#groups.flatMap(({ setting, failure }) =>
      failure === undefined ? [] : [{ setting, detail: failure }],
    );
  }

  /** Starts watching, and loads what was written since the groups were first read. */
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

  /** Reloads changed groups; with `all`, unchanged ones too. Calls are serialized. */
  check({ all = false }: { all?: boolean } = {}): Promise<void> {
    const checkAll = async () => {
      for (const group of this.#groups) await this.#checkGroup(group, all);
    };
    this.#checking = owned(this.#checking.then(checkAll), (error) =>
      this.#log.error('reload', 'files could not be checked', { error: errorMessage(error) }),
    );
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
      // The directory may be removed; polling continues.
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    } catch (error) {
      // Not every file system can be watched; polling continues.
      if (!(types.isNativeError(error) && 'code' in error)) throw error;
    }
  }

  async #checkGroup(group: Watched, all: boolean): Promise<void> {
    // Before reading, so that a change during the read is noticed the next time.
    const mark = await readMark(group);
    if (mark === group.mark && !all) return;
    group.mark = mark;
    if (await this.#reload(group))
      this.#log.info('reload', 'files reloaded', { setting: group.setting, files: group.paths });
  }

  async #reload(group: Watched): Promise<boolean> {
    try {
      await group.reload();
      group.failure = undefined;
      return true;
    } catch (error) {
      group.failure = errorMessage(error);
      const context = { setting: group.setting, detail: group.failure };
      this.#log.error('reload', 'changed files are invalid; the last valid version stays in use', context);
      return false;
    }
  }
}

/** Changes whenever a file changes, appears or disappears. */
async function readMark({ paths }: ReloadedGroup): Promise<string> {
  const marks = paths.map(async (path) => {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
      return [dev, ino, size, mtimeNs, ctimeNs].join(':');
    } catch (error) {
      return types.isNativeError(error) && 'code' in error ? String(error.code) : 'unreadable';
    }
  });
  return (await Promise.all(marks)).join('/');
}
