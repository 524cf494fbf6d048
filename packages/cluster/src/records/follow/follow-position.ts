import type { FollowQuery, FoundRecord } from '@porthole/logs/types';

/** Records written while a follow starts may have an earlier timestamp: better one too many than one lost. */
const MARGIN_MS = 1000;

/** Files whose position is remembered; each log has one live file. */
const MAX_FILES = 2048;

/** The position of a followed member, to resume after its last emitted record. */
export class FollowPosition {
  readonly #start: FollowQuery['start'];
  readonly #delivered = new Map<string, string>();
  #beganMs: number | undefined;
  #isForgotten = false;

  constructor(start: FollowQuery['start']) {
    this.#start = start;
  }

  /** Following started at this time, by the clock of the member. */
  started(atMs: number): void {
    this.#beganMs ??= atMs;
  }

  /** Start without the record: from the time given with it, or only new records. */
  #since(): FollowQuery['start'] {
    const sinceMs = typeof this.#start === 'object' && 'cursor' in this.#start ? this.#start.sinceMs : undefined;
    return sinceMs === undefined ? 'end' : { timeMs: sinceMs };
  }

  track({ file, cursor, unfinished }: FoundRecord): void {
    // Resuming after an unfinished line would lose its rest: it is emitted again, complete.
    if (unfinished) return;
    this.#delivered.delete(file);
    this.#delivered.set(file, cursor);
    if (this.#delivered.size <= MAX_FILES) return;
    const [oldest = file] = this.#delivered.keys();
    this.#delivered.delete(oldest);
  }

  /** The record to resume after is gone: resumes from the start of the follow. Returns whether there was one. */
  forget(): boolean {
    const hadPosition = this.#delivered.size > 0 || (typeof this.#start === 'object' && 'cursor' in this.#start);
    if (!hadPosition || this.#isForgotten) return false;
    this.#delivered.clear();
    this.#isForgotten = true;
    return true;
  }

  /** Where to start or resume. */
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
    // The last one per log wins.
    return cursors.length === 0 ? { timeMs: sinceMs } : { cursor: cursors.join('~'), sinceMs };
  }
}
