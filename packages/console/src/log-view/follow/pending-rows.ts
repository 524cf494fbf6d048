import type { Row } from '../model/workspace-state.ts';
import type { ShownRecord } from '../source/log-source.ts';

export const MAX_HELD = 2000;

/** What came while nothing may move: the newest records and what was told between them. */
export class PendingRows {
  #rows: Row[] = [];
  #first = 0;
  #records = 0;
  #dropped = 0;

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#rows.push(row);
      if (row.kind === 'record') this.#records++;
    }
    while (this.#records > MAX_HELD) this.#dropFirst();
    // Moved now and then only: each row once per as many rows as are held.
    if (this.#first > MAX_HELD) {
      this.#rows = this.#rows.slice(this.#first);
      this.#first = 0;
    }
  }

  /** Everything held, how many records were let go before it, and the first that is left. */
  take(): { rows: Row[]; dropped: number; first: ShownRecord | undefined } {
    const rows = this.#rows.slice(this.#first);
    const dropped = this.#dropped;
    const first = rows.find((row) => row.kind === 'record')?.record;
    this.clear();
    return { rows, dropped, first };
  }

  clear(): void {
    this.#rows = [];
    this.#first = 0;
    this.#records = 0;
    this.#dropped = 0;
  }

  #dropFirst(): void {
    const row = this.#rows[this.#first++];
    if (row?.kind !== 'record') return;
    this.#records--;
    this.#dropped++;
  }
}
