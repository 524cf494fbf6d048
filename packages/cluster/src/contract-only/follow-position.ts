import { resumeCursor } from '@porthole/logs';
import type { FollowQuery, FoundRecord } from '@porthole/logs/types';
import { joinCursors, LogPositions } from '@porthole/records';

/** Records written while a follow starts may have an earlier timestamp: better one too many than one lost. */
const MARGIN_MS = 1000;

/** The position of a followed member, to resume after its last emitted record. */
export class FollowPosition {
  readonly #start: FollowQuery['start'];
  readonly #positions = new LogPositions();
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

  track(record: FoundRecord): void {
    // With its time: if its file is gone by then, what is left of the log, and not older, follows it.
    this.#positions.track({ ...record, cursor: resumeCursor(record) });
  }

  /** Where all logs stand, after the records so far. */
  locate(cursor: string): void {
    this.#positions.locate(cursor);
  }

  /** The record to resume after is gone: resumes from the start of the follow. Returns whether there was one. */
  forget(): boolean {
    if ((!this.#positions.isKnown && this.#asked === undefined) || this.#isForgotten) return false;
    this.#positions.forget();
    this.#isForgotten = true;
    return true;
  }

  /** Where to start or resume. */
  start(): FollowQuery['start'] {
    const { isKnown } = this.#positions;
    if (this.#isForgotten && !isKnown)
      return this.#beganMs === undefined ? this.#since() : { timeMs: this.#beganMs - MARGIN_MS };
    if (this.#beganMs === undefined) return this.#start;
    if (this.#start !== 'end' && !isKnown) return this.#start;
    const cursors = this.#positions.cursors(this.#isForgotten ? undefined : this.#asked);
    const sinceMs = this.#beganMs - MARGIN_MS;
    return cursors.length === 0 ? { timeMs: sinceMs } : { cursor: joinCursors(cursors), sinceMs };
  }
}
