import type { Row } from '../model/workspace-state.ts';
import type { ShownRecord } from '../source/log-source.ts';

export const MAX_HELD = 2000;

/** Rows that arrived while paused: the newest records and the notices between them. */
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
    // Trimmed rarely: each row moves once per as many rows as are held.
    if (this.#first > MAX_HELD) {
      this.#rows = this.#rows.slice(this.#first);
      this.#first = 0;
    }
  }

  /** All held rows, the number of records dropped before them, and the first record left. */
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
