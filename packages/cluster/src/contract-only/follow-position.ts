import type { FollowQuery, FoundRecord } from '@porthole/logs/types';

/** Records written while a follow starts may have an earlier timestamp: better one too many than one lost. */
const MARGIN_MS = 1000;

/** Files whose position is remembered; each log has one live file. */
const MAX_FILES = 2048;

/** The position of a followed member, to resume after its last emitted record. */
export class FollowPosition {
  readonly #start: FollowQuery['start'];
  /** Where all its logs stood, as far as it has said. */
  #base: string | undefined;
  /** The last cursor of each file since then. */
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

  get #asked(): string | undefined {
    return typeof this.#start === 'object' && 'cursor' in this.#start ? this.#start.cursor : undefined;
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

  /** Where all logs stand, after the records so far. */
  locate(cursor: string): void {
    this.#base = cursor;
    this.#delivered.clear();
  }

  /** The record to resume after is gone: resumes from the start of the follow. Returns whether there was one. */
  forget(): boolean {
    const hadPosition = this.#base !== undefined || this.#delivered.size > 0 || this.#asked !== undefined;
    if (!hadPosition || this.#isForgotten) return false;
    this.#base = undefined;
    this.#delivered.clear();
    this.#isForgotten = true;
    return true;
  }

  /** Where to start or resume. */
  start(): FollowQuery['start'] {
    const hasPosition = this.#base !== undefined || this.#delivered.size > 0;
    if (this.#isForgotten && !hasPosition)
      return this.#beganMs === undefined ? this.#since() : { timeMs: this.#beganMs - MARGIN_MS };
    if (this.#beganMs === undefined) return this.#start;
    if (this.#start !== 'end' && !hasPosition) return this.#start;
    const first = this.#base ?? (this.#isForgotten ? undefined : this.#asked);
    const cursors = [...(first === undefined ? [] : [first]), ...this.#delivered.values()];
    const sinceMs = this.#beganMs - MARGIN_MS;
    // The last one per log wins.
    return cursors.length === 0 ? { timeMs: sinceMs } : { cursor: cursors.join('~'), sinceMs };
  }
}
