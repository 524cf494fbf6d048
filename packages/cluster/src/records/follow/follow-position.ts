import type { FollowQuery, FoundRecord } from '@porthole/logs/types';

/** What is written while a follow begins may bear an earlier time: better a record too early than one lost. */
const MARGIN_MS = 1000;

/** Files whose place is remembered; a log has one that is written. */
const MAX_FILES = 2048;

/** Where the follow of a member has come to, so that it can be asked again behind what it told. */
export class FollowPosition {
  readonly #start: FollowQuery['start'];
  readonly #delivered = new Map<string, string>();
  #beganMs: number | undefined;
  #isForgotten = false;

  constructor(start: FollowQuery['start']) {
    this.#start = start;
  }

  /** The member follows since this time, by its own clock. */
  started(atMs: number): void {
    this.#beganMs ??= atMs;
  }

  /** Without the record to begin behind: what is newer than the time given with it, or only what is new. */
  #since(): FollowQuery['start'] {
    const sinceMs = typeof this.#start === 'object' && 'cursor' in this.#start ? this.#start.sinceMs : undefined;
    return sinceMs === undefined ? 'end' : { timeMs: sinceMs };
  }

  track({ file, cursor, unfinished }: FoundRecord): void {
    // Behind an unfinished line its rest would be lost: it is told once more, whole.
    if (unfinished) return;
    this.#delivered.delete(file);
    this.#delivered.set(file, cursor);
    if (this.#delivered.size <= MAX_FILES) return;
    const [oldest = file] = this.#delivered.keys();
    this.#delivered.delete(oldest);
  }

  /** The record it would go on behind is gone: goes on with what is written since it was followed. Whether there was one. */
  forget(): boolean {
    const hadPosition = this.#delivered.size > 0 || (typeof this.#start === 'object' && 'cursor' in this.#start);
    if (!hadPosition || this.#isForgotten) return false;
    this.#delivered.clear();
    this.#isForgotten = true;
    return true;
  }

  /** Where to begin, or to go on. */
  start(): FollowQuery['start'] {
    if (this.#isForgotten && this.#delivered.size === 0)
      return this.#beganMs === undefined ? this.#since() : { timeMs: this.#beganMs - MARGIN_MS };
    if (this.#beganMs === undefined) return this.#start;
    const first =
      typeof this.#start === 'object' && 'cursor' in this.#start && !this.#isForgotten ? [this.#start.cursor] : [];
    const cursors = [...first, ...this.#delivered.values()];
    const isAsked = this.#start !== 'end' && this.#delivered.size === 0;
    if (isAsked) return this.#start;
    const sinceMs = this.#beganMs - MARGIN_MS;
    // The last one of a log counts.
    return cursors.length === 0 ? { timeMs: sinceMs } : { cursor: cursors.join('~'), sinceMs };
  }
}
