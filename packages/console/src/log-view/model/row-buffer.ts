import { type Direction, recordKey, type ShownRecord } from '../source/log-source.ts';
import type { RecordRow, Row } from './workspace-state.ts';

/** Rows held: enough to scroll for a while, few enough that a change takes less than a frame. */
export const MAX_RECORDS = 4000;

/** A pinned row is dropped when the other end is this far away. */
export const HARD_MAX_RECORDS = 12_000;

interface RowIndex {
  keys: Set<string>;
  /** Partial lines by position: they may arrive again, complete, under another key. */
  unfinished: Map<string, string>;
}

/** A sorted window of rows without duplicate records. Immutable: every operation returns a buffer. */
export class RowBuffer {
  static readonly EMPTY = new RowBuffer([]);

  readonly rows: readonly Row[];
  readonly records: number;
  /** Made when it is needed: most buffers are trimmed at once. */
  #index: RowIndex | undefined;

  private constructor(rows: readonly Row[]) {
    this.rows = rows;
    let records = 0;
    for (const { kind } of rows) if (kind === 'record') records++;
    this.records = records;
  }

  get first(): ShownRecord | undefined {
    return this.rows.find((row) => row.kind === 'record')?.record;
  }

  get last(): ShownRecord | undefined {
    return this.rows.findLast((row) => row.kind === 'record')?.record;
  }

  has(key: string): boolean {
    return this.#indexed().keys.has(key);
  }

  get(key: string): Row | undefined {
    return this.has(key) ? this.rows.find((row) => row.key === key) : undefined;
  }

  append(rows: readonly Row[]): RowBuffer {
    return this.#insertAt(this.rows.length, rows);
  }

  prepend(rows: readonly Row[]): RowBuffer {
    return this.#insertAt(0, rows);
  }

  /** Inserts before a row; at the end if that row does not exist. */
  insertBefore(key: string, rows: readonly Row[]): RowBuffer {
    const index = this.has(key) ? this.rows.findIndex((row) => row.key === key) : this.rows.length;
    return this.#insertAt(index, rows);
  }

  replace(key: string, row: Row): RowBuffer {
    const index = this.rows.findLastIndex((candidate) => candidate.key === key);
    return index < 0 ? this : new RowBuffer(this.rows.with(index, row));
  }

  removeIf(isRemoved: (row: Row) => boolean): RowBuffer {
    const rows = this.rows.filter((row) => !isRemoved(row));
    return rows.length === this.rows.length ? this : new RowBuffer(rows);
  }

  /** Drops excess rows at one end, but not the pinned row nor those beyond it. The same buffer if there are none. */
  trim(direction: Direction, pinnedKey: string | null): RowBuffer {
    const isOlder = direction === 'older';
    const count = this.#countExcess(isOlder ? this.rows : this.rows.toReversed(), pinnedKey);
    return count === 0 ? this : new RowBuffer(isOlder ? this.rows.slice(count) : this.rows.slice(0, -count));
  }

  /** Number of leading rows to drop. Notices go with the records before them: an open edge stands for all of them. */
  #countExcess(rows: readonly Row[], pinnedKey: string | null): number {
    let excess = this.records - MAX_RECORDS;
    if (excess <= 0) return 0;
    const protectedKey = this.records > HARD_MAX_RECORDS ? null : pinnedKey;
    let count = 0;
    for (const row of rows) {
      if (row.key === protectedKey || (row.kind === 'record' && excess-- <= 0)) break;
      count++;
    }
    return count;
  }

  /** Adds the rows that are not in the buffer yet. A complete line replaces its partial one. */
  #insertAt(index: number, rows: readonly Row[]): RowBuffer {
    const { keys, unfinished } = this.#indexed();
    const added: Row[] = [];
    const replaced = new Map<string, Row>();
    const seen = new Set<string>();
    /** Index in `added` of partial lines, by position. */
    const beginnings = new Map<string, number>();
    for (const row of rows) {
      const position = row.kind === 'record' ? positionKey(row.record) : '';
      const isWhole = row.kind === 'record' && !row.record.unfinished;
      const addedIndex = beginnings.get(position);
      const shownKey = unfinished.get(position);
      if (addedIndex !== undefined) {
        if (isWhole) added[addedIndex] = row;
      } else if (shownKey !== undefined) {
        if (isWhole) replaced.set(shownKey, row);
      } else if (!keys.has(row.key) && !seen.has(row.key)) {
        if (row.kind === 'record' && !isWhole) beginnings.set(position, added.length);
        added.push(row);
      }
      seen.add(row.key);
    }
    if (added.length === 0 && replaced.size === 0) return this;
    const known = replaced.size === 0 ? this.rows : this.rows.map((row) => replaced.get(row.key) ?? row);
    return new RowBuffer([...known.slice(0, index), ...added, ...known.slice(index)]);
  }

  #indexed(): RowIndex {
    if (this.#index) return this.#index;
    const index: RowIndex = { keys: new Set(), unfinished: new Map() };
    for (const row of this.rows) {
      index.keys.add(row.key);
      if (row.kind === 'record' && row.record.unfinished) index.unfinished.set(positionKey(row.record), row.key);
    }
    this.#index = index;
    return index;
  }
}

export function recordRow(record: ShownRecord): RecordRow {
  return { kind: 'record', key: recordKey(record), record };
}

function positionKey({ node, file, offset }: ShownRecord): string {
  return `${node} ${file} ${offset}`;
}
