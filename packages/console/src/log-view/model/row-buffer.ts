import { recordKey, type ShownRecord } from '../source/log-source.ts';
import type { Row } from './workspace-state.ts';

export type RecordRow = Extract<Row, { kind: 'record' }>;

/** Rows held: enough to scroll for a while, few enough that a change takes less than a frame. */
export const MAX_RECORDS = 4000;

/** A pinned row is dropped when the other end is this far away. */
export const HARD_MAX_RECORDS = 12_000;

/** A sorted window of rows without duplicate records. Every change creates a new array. */
export class RowBuffer {
  #rows: readonly Row[] = [];
  #records = 0;
  readonly #keys = new Set<string>();
  /** Partial lines by position: they may arrive again, complete, under another key. */
  readonly #unfinished = new Map<string, string>();

  get rows(): readonly Row[] {
    return this.#rows;
  }

  get records(): number {
    return this.#records;
  }

  get first(): ShownRecord | undefined {
    return this.#rows.find((row) => row.kind === 'record')?.record;
  }

  get last(): ShownRecord | undefined {
    return this.#rows.findLast((row) => row.kind === 'record')?.record;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  get(key: string): Row | undefined {
    return this.#keys.has(key) ? this.#rows.find((row) => row.key === key) : undefined;
  }

  reset(rows: readonly Row[]): void {
    this.#rows = [];
    this.#records = 0;
    this.#keys.clear();
    this.#unfinished.clear();
    this.append(rows);
  }

  /** Returns how many records were added. */
  append(rows: readonly Row[]): number {
    const [added, before] = [this.#unknown(rows), this.#records];
    this.#rows = [...this.#rows, ...added];
    this.#note(added);
    return this.#records - before;
  }

  prepend(rows: readonly Row[]): number {
    const [added, before] = [this.#unknown(rows), this.#records];
    this.#rows = [...added, ...this.#rows];
    this.#note(added);
    return this.#records - before;
  }

  /** Inserts before a row; at the end if that row does not exist. */
  insertBefore(key: string, rows: readonly Row[]): number {
    const [added, before] = [this.#unknown(rows), this.#records];
    const index = this.#keys.has(key) ? this.#rows.findIndex((row) => row.key === key) : this.#rows.length;
    this.#rows = this.#rows.toSpliced(index, 0, ...added);
    this.#note(added);
    return this.#records - before;
  }

  replace(key: string, row: Row): void {
    const index = this.#rows.findLastIndex((candidate) => candidate.key === key);
    if (index < 0) return;
    this.#forget(this.#rows.slice(index, index + 1));
    this.#rows = this.#rows.with(index, row);
    this.#note([row]);
  }

  removeIf(isOut: (row: Row) => boolean): void {
    const out = this.#rows.filter(isOut);
    if (out.length === 0) return;
    this.#rows = this.#rows.filter((row) => !isOut(row));
    this.#forget(out);
  }

  /** Drops excess rows at the start, but not the row to keep nor those after it. Returns whether it did. */
  trimStart(keep: string | null): boolean {
    const count = this.#tooMany(this.#rows, keep);
    if (count === 0) return false;
    this.#forget(this.#rows.slice(0, count));
    this.#rows = this.#rows.slice(count);
    return true;
  }

  trimEnd(keep: string | null): boolean {
    const count = this.#tooMany(this.#rows.toReversed(), keep);
    if (count === 0) return false;
    const end = this.#rows.length - count;
    this.#forget(this.#rows.slice(end));
    this.#rows = this.#rows.slice(0, end);
    return true;
  }

  /** Number of leading rows to drop. Notices go with the records before them: an open edge stands for all of them. */
  #tooMany(rows: readonly Row[], keep: string | null): number {
    let excess = this.#records - MAX_RECORDS;
    if (excess <= 0) return 0;
    const protectedKey = this.#records > HARD_MAX_RECORDS ? null : keep;
    let count = 0;
    for (const row of rows) {
      if (row.key === protectedKey || (row.kind === 'record' && excess-- <= 0)) break;
      count++;
    }
    return count;
  }

  /** Rows not in the buffer yet. A complete line replaces its partial one. */
  #unknown(rows: readonly Row[]): Row[] {
    const added: Row[] = [];
    const seen = new Set<string>();
    const beginnings = new Map<string, number>();
    for (const row of rows) {
      const position = row.kind === 'record' ? positionKey(row.record) : undefined;
      const isWhole = row.kind === 'record' && !row.record.unfinished;
      const beginning =
        position === undefined ? undefined : (beginnings.get(position) ?? this.#unfinished.get(position));
      if (typeof beginning === 'number') {
        if (isWhole) added[beginning] = row;
      } else if (beginning !== undefined) {
        if (isWhole) this.replace(beginning, row);
      } else if (!this.#keys.has(row.key) && !seen.has(row.key)) {
        if (position !== undefined && !isWhole) beginnings.set(position, added.length);
        added.push(row);
      }
      seen.add(row.key);
    }
    return added;
  }

  #note(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#keys.add(row.key);
      if (row.kind !== 'record') continue;
      this.#records++;
      if (row.record.unfinished) this.#unfinished.set(positionKey(row.record), row.key);
    }
  }

  #forget(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#keys.delete(row.key);
      if (row.kind !== 'record') continue;
      this.#records--;
      if (row.record.unfinished) this.#unfinished.delete(positionKey(row.record));
    }
  }
}

export function recordRow(record: ShownRecord): RecordRow {
  return { kind: 'record', key: recordKey(record), record };
}

function positionKey({ node, file, offset }: ShownRecord): string {
  return `${node} ${file} ${offset}`;
}
