import { setImmediate } from 'node:timers/promises';
import type { HandleCache, LogHandle } from '../../file/handle-cache.ts';
import { undefinedIfUnreadable } from '../../log-error.ts';

/** The file that the name leads to, and how often the name got another file up to this one. */
export interface FoundFile {
  handle: LogHandle;
  replacements: number;
}

/** Events of the file system come this late at most. */
const LATE_MS = 1000;

/**
 * How often the name got another file, by the events of the file system. Each replacement causes two events, or one if it
 * is atomic: more of them mean that files came and went between two polls. The events may come after the new file was
 * found.
 */
export class ReplacementCount {
  #events = 0;
  #followed = 0;
  #followedMs = 0;

  noteEvent(): void {
    this.#events++;
  }

  /** So far. The name has a file when it is read, so an odd event means that the second one of its pair is still to come. */
  get count(): number {
    return Math.ceil(this.#events / 2);
  }

  /**
   * Those up to this file, which the name had a moment ago; `undefined` if it has another one by now, and it is not known
   * which events belong to that.
   */
  async countUpTo({ name, dev, ino }: LogHandle, handles: HandleCache): Promise<number | undefined> {
    // Events of what happened to the name before may still be queued: after two turns they have been delivered.
    await setImmediate();
    await setImmediate();
    const { count } = this;
    const now = await handles.acquire(name).catch(undefinedIfUnreadable);
    now?.release();
    return now?.dev === dev && now.ino === ino ? count : undefined;
  }

  /** Those up to `count` that were not followed yet. */
  unfollowed(count: number): number {
    return count - this.#followed;
  }

  /** So many files were found; others up to `count` were reported as missing. */
  follow(files: number, count: number): void {
    this.#followed = Math.max(this.#followed + files, count);
    this.#followedMs = performance.now();
  }

  /** The name still has the file that was found last, and there were `count` replacements before. */
  settle(count: number): void {
    if (performance.now() - this.#followedMs > LATE_MS) this.#followed = count;
  }
}
