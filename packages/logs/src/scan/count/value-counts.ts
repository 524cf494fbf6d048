import { DistinctSketch } from './distinct-sketch.ts';
import { grow } from './grow.ts';
import { copyInto, type PackRoom } from './pack-room.ts';
import { MAX_CELLS, TimeCells } from './time-cells.ts';
import { NO_ID, ValueTable } from './value-table.ts';

/** Different values counted exactly. */
export const MAX_VALUES = 50_000;

/** Room at first. */
const FIRST_VALUES = 128;

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
  /** Empty if there are none. */
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

/** The memory of packed counts that are not needed any more. */
export function packedRoom({ text, ends, counts, errors, cells }: PackedCounts): PackRoom {
  return [text.buffer, ends.buffer, counts.buffer, errors.buffer, cells.buffer];
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
  #maxValues: number;
  readonly #cells: TimeCells;
  readonly #table = new ValueTable();
  #counts = new Float64Array(FIRST_VALUES);
  #errors = new Float64Array(FIRST_VALUES);
  #floor = 0;
  #dropped: DistinctSketch | undefined;
  #generation = 0;
  /** Room to drop values: they are dropped often, and new arrays would be garbage of 50 MiB. */
  #sorted = new Float64Array(0);
  #kept = new Uint32Array(0);

  constructor({ maxValues = MAX_VALUES, maxCells = MAX_CELLS }: CountLimits = {}) {
    this.#maxValues = maxValues;
    this.#cells = new TimeCells(maxCells);
  }

  /** Starts again in the same memory. */
  clear({ maxValues = MAX_VALUES, maxCells = MAX_CELLS }: CountLimits = {}): void {
    this.total = 0;
    this.#maxValues = maxValues;
    this.#cells.clear(maxCells);
    this.#table.clear();
    this.#floor = 0;
    this.#dropped = undefined;
  }

  /** Ids of values change with it. */
  get generation(): number {
    return this.#generation;
  }

  get isExact(): boolean {
    return this.#dropped === undefined;
  }

  /** The id of a value; one that is not in the table yet is added, which may change the ids of all others. */
  idFor(value: string): number {
    const bytes = Buffer.from(value);
    return this.idForBytes(bytes, 0, bytes.length);
  }

  /** The same for the value `[start, end)`, which is valid UTF-8. */
  idForBytes(bytes: Uint8Array, start: number, end: number): number {
    const id = this.#table.find(bytes, start, end);
    return id === NO_ID ? this.#insert(bytes, start, end) : id;
  }

  /** The id of a value, or `NO_ID`. */
  find(bytes: Uint8Array, start: number, end: number): number {
    return this.#table.find(bytes, start, end);
  }

  /** Counts one occurrence. */
  add(id: number): void {
    this.total++;
    this.#counts[id] = (this.#counts[id] ?? 0) + 1;
  }

  addCell(id: number, bucket: number, count = 1): void {
    this.#cells.add(id, bucket, count);
    if (this.#cells.isFull) this.#cells.dropRarest(this.#counts.subarray(0, this.#table.size));
  }

  /** Adds the counts of another table. */
  merge({ text, ends, counts, errors, cells, lost, total, floor, dropped }: PackedCounts): void {
    this.total += total;
    this.#raiseFloor(floor);
    if (dropped) this.#sketch().merge(new DistinctSketch(dropped));
    const startOf = (index: number) => (index === 0 ? 0 : (ends[index - 1] ?? 0));
    for (let index = 0; index < ends.length; index++) {
      const id = this.idForBytes(text, startOf(index), ends[index] ?? 0);
      this.#counts[id] = (this.#counts[id] ?? 0) + (counts[index] ?? 0);
      // Its own error replaces that of values which are not in the other table.
      this.#errors[id] = (this.#errors[id] ?? 0) + (errors[index] ?? 0) - floor;
    }
    const idAt = (index: number) => this.#table.find(text, startOf(index), ends[index] ?? 0);
    for (const index of lost) {
      const id = idAt(index);
      if (id !== NO_ID) this.#cells.drop(id);
    }
    for (let at = 0; at < cells.length; at += 3) {
      const id = idAt(cells[at + 1] ?? 0);
      if (id !== NO_ID) this.addCell(id, cells[at] ?? 0, cells[at + 2]);
    }
  }

  /** `room`: that of earlier packed counts, see `packedRoom`. */
  pack(room: PackRoom = []): PackedCounts {
    const { size, text, ends } = this.#table;
    const errors = this.#errors.subarray(0, size);
    const lost: number[] = [];
    for (let id = 0; id < size; id++) if (this.#cells.isLost(id)) lost.push(id);
    return {
      text: copyInto(text.subarray(0, this.#table.startOf(size)), room[0]),
      ends: copyInto(ends.subarray(0, size), room[1]),
      counts: copyInto(this.#counts.subarray(0, size), room[2]),
      errors: copyInto(errors.some((error) => error !== 0) ? errors : new Float64Array(0), room[3]),
      cells: this.#cells.pack(room[4]),
      lost,
      total: this.total,
      floor: this.#floor,
      dropped: this.#dropped?.registers,
    };
  }

  /** The most frequent values, equally frequent ones by their text. */
  mostFrequent(limit: number): ValueCount[] {
    const counts = this.#counts;
    const ids = new Uint32Array(this.#table.size);
    for (let id = 0; id < ids.length; id++) ids[id] = id;
    ids.sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0) || this.#table.compare(a, b));
    return Array.from(ids.subarray(0, limit), (id) => {
      return { value: this.#table.textOf(id), count: counts[id] ?? 0, error: this.#errors[id] ?? 0, id };
    });
  }

  /** The counts of these values by bucket; absent where they are not complete. */
  cellsFor(ids: readonly number[]): Map<number, Map<number, number>> {
    const found = new Map(ids.map((id) => [id, new Map<number, number>()]));
    for (const id of ids) if (this.#cells.isLost(id) || (this.#errors[id] ?? 0) > 0) found.delete(id);
    this.#cells.visit((id, bucket, count) => found.get(id)?.set(bucket, count));
    return found;
  }

  /** Different values, also those that were dropped: an estimate if there are any. */
  distinct(): number {
    const { size } = this.#table;
    if (!this.#dropped) return size;
    const all = new DistinctSketch();
    all.merge(this.#dropped);
    for (let id = 0; id < size; id++) this.#addTo(all, id);
    return Math.max(size, all.estimate());
  }

  #insert(bytes: Uint8Array, start: number, end: number): number {
    if (this.#table.size >= this.#maxValues) this.#dropRarest();
    const id = this.#table.add(bytes, start, end);
    this.#counts = grow(this.#counts, id + 1);
    this.#errors = grow(this.#errors, id + 1);
    this.#counts[id] = 0;
    this.#errors[id] = this.#floor;
    return id;
  }

  #raiseFloor(by: number): void {
    if (by === 0) return;
    this.#floor += by;
    for (let id = 0; id < this.#table.size; id++) this.#errors[id] = (this.#errors[id] ?? 0) + by;
  }

  /** Raises the floor to the median of what the values may have, and drops those that do not exceed it. */
  #dropRarest(): void {
    this.#generation++;
    const { size } = this.#table;
    const [counts, errors] = [this.#counts, this.#errors];
    this.#sorted = grow(this.#sorted, size);
    this.#kept = grow(this.#kept, size);
    const most = this.#sorted.subarray(0, size);
    for (let id = 0; id < size; id++) most[id] = (counts[id] ?? 0) + (errors[id] ?? 0);
    most.sort();
    this.#floor = Math.max(this.#floor, most[Math.floor((size - 1) / 2)] ?? 0);
    const sketch = this.#sketch();
    let keptSize = 0;
    for (let id = 0; id < size; id++) {
      const [count = 0, error = 0] = [counts[id], errors[id]];
      if (count + error > this.#floor) {
        counts[keptSize] = count;
        errors[keptSize] = error;
        this.#kept[keptSize++] = id;
      } else this.#addTo(sketch, id);
    }
    const kept = this.#kept.subarray(0, keptSize);
    this.#cells.keep(kept);
    this.#table.keep(kept);
  }

  #addTo(sketch: DistinctSketch, id: number): void {
    sketch.addBytes(this.#table.text, this.#table.startOf(id), this.#table.endOf(id));
  }

  #sketch(): DistinctSketch {
    this.#dropped ??= new DistinctSketch();
    return this.#dropped;
  }
}
