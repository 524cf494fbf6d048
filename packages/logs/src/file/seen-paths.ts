import { type BigIntStats, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode } from '../log-error.ts';
import { LOCAL_FILE_SYSTEMS } from './entry-stats.ts';
import { isSettledForWriters, statsStamp } from './file-stamp.ts';

/** Another file system may be mounted in the place of a path, so it is looked at again after this long. */
const KNOWN_MS = 10_000;

/**
 * What was found at the paths that something was read from: files, directories, and names of which there was no file. As long
 * as `isSameNow`, reading them again returns the same.
 */
export class SeenPaths {
  readonly #stamps = new Map<string, string | undefined>();
  readonly #now: () => number;
  #isSettled = true;
  #untilMs = 0;

  /** The time is that of the clock which the stamps of files are compared with. */
  // clock: compared with times of the file system
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** `stats` follow links and were taken before the file, or the names in the directory, were read; `undefined`: none was there. */
  note(path: string, stats: BigIntStats | undefined): void {
    const stamp = stats && statsStamp(stats);
    if (this.#stamps.has(path) && this.#stamps.get(path) !== stamp) this.#isSettled = false;
    this.#stamps.set(path, stamp);
    if (!stats) return;
    const times = { modifiedNs: stats.mtimeNs, changedNs: stats.ctimeNs };
    this.#isSettled &&= isSettledForWriters(times, this.#now());
  }

  /**
   * To be called when all has been read. False if a change from now on need not show: something changed a short time ago, or is
   * on a file system of a network or of a program.
   */
  async isCertain(): Promise<boolean> {
    if (!this.#isSettled) return false;
    const dirs = new Set(Array.from(this.#stamps.keys(), (path) => dirname(path)));
    const places = [...this.#stamps.keys(), ...dirs];
    const types = await Promise.all(places.map((path) => fileSystemOf(path)));
    const areLocal = types.every((type) => type === undefined || LOCAL_FILE_SYSTEMS.has(type));
    if (areLocal && types.some((type) => type !== undefined)) this.#untilMs = performance.now() + KNOWN_MS;
    return this.#untilMs > 0;
  }

  /** On this thread, which takes a few microseconds for each: only if it was certain, and false some seconds later. */
  isSameNow(): boolean {
    if (performance.now() > this.#untilMs) return false;
    for (const [path, stamp] of this.#stamps) if (stampNow(path) !== stamp) return false;
    return true;
  }
}

/** `undefined` if nothing is there, `''` if that cannot be found out. */
function stampNow(path: string): string | undefined {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && statsStamp(stats);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return '';
  }
}

async function fileSystemOf(path: string): Promise<number | undefined> {
  try {
    return (await statfs(path)).type;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
