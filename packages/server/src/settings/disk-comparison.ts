import { stat } from 'node:fs/promises';
import type { NodeSettings } from '@porthole/contract';
import { hasCode } from '../errors.ts';
import { compareWithDisk } from './describe-settings.ts';
import type { LoadedSettings } from './load-settings.ts';

/** Two changes this close to each other may have the same times: a file is read again until it was the same for longer. */
const SETTLED_MS = 2000;

export interface DiskComparisonOptions {
  /** Monotonic. */
  nowMs?: () => number;
  compare?: (loaded: LoadedSettings) => Promise<NodeSettings['disk']>;
}

/**
 * The settings file against what was read at start. Every description of a node needs it, of which others request some each
 * minute, so a file that stays the same is not read again.
 */
export class DiskComparison {
  readonly #loaded: LoadedSettings;
  readonly #options: Required<DiskComparisonOptions>;
  #last: { stamp: string; seenMs: number; readMs: number; disk: NodeSettings['disk'] } | undefined;

  constructor(
    loaded: LoadedSettings,
    { nowMs = () => performance.now(), compare = compareWithDisk }: DiskComparisonOptions = {},
  ) {
    this.#loaded = loaded;
    this.#options = { nowMs, compare };
  }

  async read(): Promise<NodeSettings['disk']> {
    const { nowMs, compare } = this.#options;
    const last = this.#last;
    const readMs = nowMs();
    const stamp = await this.#stamp();
    const isSame = stamp !== undefined && stamp === last?.stamp;
    if (isSame && last.readMs - last.seenMs >= SETTLED_MS) return last.disk;
    const disk = await compare(this.#loaded);
    this.#last = stamp === undefined ? undefined : { stamp, seenMs: isSame ? last.seenMs : readMs, readMs, disk };
    return disk;
  }

  /** `undefined` if there is no file. */
  async #stamp(): Promise<string | undefined> {
    if (this.#loaded.file === null) return undefined;
    try {
      const { dev, ino, mode, size, mtimeNs, ctimeNs } = await stat(this.#loaded.file, { bigint: true });
      return [dev, ino, mode, size, mtimeNs, ctimeNs].join(':');
    } catch (error) {
      // Whatever is wrong with it, reading it says so.
      if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return undefined;
      throw error;
    }
  }
}
