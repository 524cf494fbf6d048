import { DistinctSketch } from './distinct-sketch.ts';
import { MAX_CELLS, TimeCells } from './time-cells.ts';

/** Different values counted exactly. */
export const MAX_VALUES = 50_000;

/** Limits of a table. */
export interface CountLimits {
  maxValues?: number | undefined;
  maxCells?: number | undefined;
}

/** A table of counts, packed to be transferred between threads. */
export interface PackedCounts {
  /** All values in UTF-8, and where each ends. */
  text: Uint8Array<ArrayBuffer>;
  ends: Uint32Array<ArrayBuffer>;
  counts: Float64Array<ArrayBuffer>;
  errors: Float64Array<ArrayBuffer>;
  /** Bucket, index of the value and count of each cell; those of other values were dropped. */
  cells: Float64Array<ArrayBuffer>;
  /** Indices of values whose cells were dropped. */
  lost: number[];
  /** Of all values, also those that are not among them. */
  total: number;
  /** What a value that is not among them may have been counted, and what those were. */
  floor: number;
  dropped: Uint8Array<ArrayBuffer> | undefined;
}

export interface ValueCount {
  value: string;
  count: number;
  /** The real count may be so much higher. */
  error: number;
  id: number;
}

/**
 * Counts of values in bounded memory. Up to `maxValues` different ones are counted exactly. Beyond that the rarest half
 * is dropped (Misra-Gries): a value that is not in the table has occurred at most `floor` times, and the count of one
 * that enters it later may be so much too low. With N counted, `floor` is at most 2 N / `maxValues`: raising it by one
 * takes one from what at least half of the values exceed it by.
 */
export class ValueCounts {
  /** Values counted, those that were dropped included. */
  total = 0;
  readonly #maxValues: number;
  readonly #cells: TimeCells;
  #ids = new Map<string, number>();
  #values: string[] = [];
  #counts: number[] = [];
  #errors: number[] = [];
  #floor = 0;
  #dropped: DistinctSketch | undefined;
  #generation = 0;

  constructor({ maxValues = MAX_VALUES, maxCells = MAX_CELLS }: CountLimits = {}) {
    this.#maxValues = maxValues;
    this.#cells = new TimeCells(maxCells);
  }

  get isExact(): boolean {
    return this.#dropped === undefined;
  }

  /** Ids of values change with it. */
  get generation(): number {
    return this.#generation;
  }

  /** The id of a value; one that is not in the table yet is added. */
  idFor(value: string): number {
    return this.#ids.get(value) ?? this.#insert(value);
  }

  /** Counts one occurrence. */
  add(id: number): void {
    this.total++;
    this.#counts[id] = (this.#counts[id] ?? 0) + 1;
  }

  addCell(id: number, bucket: number, count = 1): void {
    this.#cells.add(id, bucket, count);
    if (this.#cells.isFull) this.#cells.dropRarest(this.#counts);
  }

  /** Adds the counts of another table. */
  merge({ text, ends, counts, errors, cells, lost, total, floor, dropped }: PackedCounts): void {
    this.total += total;
    const bytes = Buffer.from(text.buffer, text.byteOffset, text.length);
    this.#raiseFloor(floor);
    if (dropped) this.#sketch().merge(new DistinctSketch(dropped));
    const values = [...ends].map((end, index) => bytes.toString('utf8', ends[index - 1] ?? 0, end));
    for (const [index, value] of values.entries()) {
      const id = this.idFor(value);
      this.#counts[id] = (this.#counts[id] ?? 0) + (counts[index] ?? 0);
      // Its own error replaces that of values which are not in the other table.
      this.#errors[id] = (this.#errors[id] ?? 0) + (errors[index] ?? 0) - floor;
    }
    const idAt = (index: number | undefined) => this.#ids.get(values[index ?? 0] ?? '');
    for (const index of lost) {
      const id = idAt(index);
      if (id !== undefined) this.#cells.drop(id);
    }
    for (let at = 0; at < cells.length; at += 3) {
      const id = idAt(cells[at + 1]);
      if (id !== undefined) this.addCell(id, cells[at] ?? 0, cells[at + 2]);
    }
  }

  pack(): PackedCounts {
    const text = Buffer.from(this.#values.join(''));
    const ends = new Uint32Array(this.#values.length);
    let end = 0;
    for (const [id, value] of this.#values.entries()) {
      end += Buffer.byteLength(value);
      ends[id] = end;
    }
    return {
      text: new Uint8Array(text),
      ends,
      counts: Float64Array.from(this.#counts),
      errors: Float64Array.from(this.#errors),
      cells: Float64Array.from([...this.#cells.all()].flat()),
      lost: this.#values.flatMap((_, id) => (this.#cells.isLost(id) ? [id] : [])),
      total: this.total,
      floor: this.#floor,
      dropped: this.#dropped?.registers,
    };
  }

  /** In no particular order. */
  *values(): Generator<ValueCount, void, undefined> {
    for (const [id, value] of this.#values.entries()) {
      yield { value, count: this.#counts[id] ?? 0, error: this.#errors[id] ?? 0, id };
    }
  }

  /** The counts of these values by bucket; absent where they are not complete. */
  cellsFor(ids: readonly number[]): Map<number, Map<number, number>> {
    const found = new Map(ids.map((id) => [id, new Map<number, number>()]));
    for (const id of ids) if (this.#cells.isLost(id) || (this.#errors[id] ?? 0) > 0) found.delete(id);
    for (const [bucket, id, count] of this.#cells.all()) found.get(id)?.set(bucket, count);
    return found;
  }

  /** Different values, also those that were dropped: an estimate if there are any. */
  distinct(): number {
    if (!this.#dropped) return this.#values.length;
    const all = new DistinctSketch();
    all.merge(this.#dropped);
    for (const value of this.#values) all.add(value);
    return Math.max(this.#values.length, all.estimate());
  }

  #insert(value: string): number {
    if (this.#values.length >= this.#maxValues) this.#dropRarest();
    const id = this.#values.length;
    this.#ids.set(value, id);
    this.#values.push(value);
    this.#counts.push(0);
    this.#errors.push(this.#floor);
    return id;
  }

  #raiseFloor(by: number): void {
    if (by === 0) return;
    this.#floor += by;
    for (const [id, error] of this.#errors.entries()) this.#errors[id] = error + by;
  }

  /** Raises the floor to the median of what the values may have, and drops those that do not exceed it. */
  #dropRarest(): void {
    const most = Float64Array.from(this.#counts, (count, id) => count + (this.#errors[id] ?? 0)).sort();
    this.#floor = Math.max(this.#floor, most[Math.floor((most.length - 1) / 2)] ?? 0);
    const sketch = this.#sketch();
    const kept: number[] = [];
    for (const [id, value] of this.#values.entries()) {
      if ((this.#counts[id] ?? 0) + (this.#errors[id] ?? 0) > this.#floor) kept.push(id);
      else sketch.add(value);
    }
    this.#cells.keep(kept);
    const [values, counts, errors] = [this.#values, this.#counts, this.#errors];
    this.#values = kept.map((id) => values[id] ?? '');
    this.#counts = kept.map((id) => counts[id] ?? 0);
    this.#errors = kept.map((id) => errors[id] ?? 0);
    this.#ids = new Map(this.#values.map((value, id) => [value, id]));
    this.#generation++;
  }

  #sketch(): DistinctSketch {
    this.#dropped ??= new DistinctSketch();
    return this.#dropped;
  }
}
