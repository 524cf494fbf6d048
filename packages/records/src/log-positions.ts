/** Files whose position is remembered, those with the newest records; each log has one live file. */
const MAX_FILES = 2048;

/**
 * How far the logs of one node were followed, to resume without losing or repeating records: where all of them stood, if
 * the node has said so, and the last record of each file since then.
 */
export class LogPositions {
  #base: string | undefined;
  /** Cursors in order of arrival. */
  readonly #files = new Map<string, string>();

  constructor(base?: string) {
    this.#base = base;
  }

  get isKnown(): boolean {
    return this.#base !== undefined || this.#files.size > 0;
  }

  /** All logs stand here, after the records so far. */
  locate(cursor: string): void {
    this.#base = cursor;
    this.#files.clear();
  }

  /** A record was delivered. Resuming after an unfinished line could lose its rest: it is delivered again, complete. */
  track({ file, cursor, unfinished }: { file: string; cursor: string; unfinished?: boolean }): void {
    if (unfinished) return;
    this.#files.delete(file);
    this.#files.set(file, cursor);
    if (this.#files.size > MAX_FILES) this.#files.delete(this.#files.keys().next().value ?? '');
  }

  forget(): void {
    this.#base = undefined;
    this.#files.clear();
  }

  /** To be joined by `joinCursors`. `first` stands for all logs until the node has said where they are. */
  cursors(first?: string): string[] {
    const base = this.#base ?? first;
    return [...(base === undefined ? [] : [base]), ...this.#files.values()];
  }
}

/** A position in several logs; of several cursors of one log the last one counts. */
export function joinCursors(cursors: Iterable<string>): string {
  return [...cursors].join('~');
}

export function splitCursors(cursor: string): string[] {
  return cursor.split('~');
}
