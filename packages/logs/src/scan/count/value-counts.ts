import { bytesHash, copyInto, grow, NO_ID, numbersIn, type PackRoom, textHash, ValueTable } from './value-table.ts';

/** Different values counted exactly. */
const MAX_VALUES = 50_000;

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
  /** Counts all values, also those that are not among them. */
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

/** Counts of single values in single buckets. */
export const MAX_CELLS = 200_000;

const FIRST_SLOTS = 2 ** 8;

/** Counts by value and bucket. If there are too many, those of the rarest values are dropped. */
class TimeCells {
  #maxCells: number;
  /** The bucket of each cell, in the order in which they were added. */
  #buckets = new Float64Array(FIRST_SLOTS / 2);
  #ids = new Uint32Array(FIRST_SLOTS / 2);
  #counts = new Float64Array(FIRST_SLOTS / 2);
  #size = 0;
  /** Cells plus one; zero: free. */
  #slots = new Int32Array(FIRST_SLOTS);
  /** Not zero: the cells of this id were dropped. */
  #lost: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  /** Room to rename values, and to choose those that are dropped. */
  #newIds = new Int32Array(0);
  #sizes = new Uint32Array(0);
  #order = new Uint32Array(0);

  constructor(maxCells: number = MAX_CELLS) {
    this.#maxCells = maxCells;
  }

  /** Keeps the memory. */
  clear(maxCells: number): void {
    this.#maxCells = maxCells;
    this.#size = 0;
    this.#slots.fill(0);
    this.#lost.fill(0);
  }

  get isFull(): boolean {
    return this.#size > this.#maxCells;
  }

  add(id: number, bucket: number, count: number): void {
    if (this.isLost(id)) return;
    const mask = this.#slots.length - 1;
    let slot = slotFor(id, bucket, mask);
    for (let cell = (this.#slots[slot] ?? 0) - 1; cell >= 0; cell = (this.#slots[slot] ?? 0) - 1) {
      if (this.#ids[cell] === id && this.#buckets[cell] === bucket) {
        this.#counts[cell] = (this.#counts[cell] ?? 0) + count;
        return;
      }
      slot = (slot + 1) & mask;
    }
    this.#slots[slot] = this.#push(id, bucket, count) + 1;
    if (this.#size * 2 <= this.#slots.length) return;
    this.#slots = new Int32Array(this.#slots.length * 2);
    this.#fillSlots();
  }

  drop(id: number): void {
    this.#lost = grow(this.#lost, id + 1);
    this.#lost[id] = 1;
  }

  isLost(id: number): boolean {
    return id < this.#lost.length && this.#lost[id] !== 0;
  }

  /** Keeps the cells of the values that were counted most, half as many as there may be. */
  dropRarest(counts: Float64Array): void {
    this.#sizes = grow(this.#sizes, counts.length);
    this.#order = grow(this.#order, counts.length);
    const sizes = this.#sizes.fill(0);
    for (let cell = 0; cell < this.#size; cell++) {
      const id = this.#ids[cell] ?? 0;
      sizes[id] = (sizes[id] ?? 0) + 1;
    }
    let found = 0;
    for (let id = 0; id < counts.length; id++) if (sizes[id] !== 0) this.#order[found++] = id;
    const ids = this.#order.subarray(0, found);
    ids.sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0));
    let room = Math.floor(this.#maxCells / 2);
    for (const id of ids) {
      room -= sizes[id] ?? 0;
      if (room < 0) this.drop(id);
    }
    this.#rebuild((id) => id);
  }

  /** Only these values remain, in ascending order, and get new ids: their index in the list. */
  keep(ids: Uint32Array): void {
    this.#newIds = grow(this.#newIds, (ids.at(-1) ?? -1) + 1);
    const newIds = this.#newIds.fill(-1);
    for (let newId = 0; newId < ids.length; newId++) newIds[ids[newId] ?? 0] = newId;
    this.#rebuild((id) => newIds[id] ?? -1);
    // In place: no new id is greater than the old one.
    for (let newId = 0; newId < this.#lost.length; newId++) {
      this.#lost[newId] = newId < ids.length && this.isLost(ids[newId] ?? 0) ? 1 : 0;
    }
  }

  /** Calls back for each cell. */
  visit(take: (id: number, bucket: number, count: number) => void): void {
    for (let cell = 0; cell < this.#size; cell++) {
      const id = this.#ids[cell] ?? 0;
      if (!this.isLost(id)) take(id, this.#buckets[cell] ?? 0, this.#counts[cell] ?? 0);
    }
  }

  /** All cells: bucket, id and count of each. */
  pack(room?: ArrayBuffer): Float64Array<ArrayBuffer> {
    const packed = numbersIn(Float64Array<ArrayBuffer>, { length: this.#size * 3, bytesEach: 8 }, room);
    let end = 0;
    for (let cell = 0; cell < this.#size; cell++) {
      if (this.isLost(this.#ids[cell] ?? 0)) continue;
      packed[end++] = this.#buckets[cell] ?? 0;
      packed[end++] = this.#ids[cell] ?? 0;
      packed[end++] = this.#counts[cell] ?? 0;
    }
    return packed.subarray(0, end);
  }

  #push(id: number, bucket: number, count: number): number {
    const cell = this.#size;
    this.#buckets = grow(this.#buckets, cell + 1);
    this.#ids = grow(this.#ids, cell + 1);
    this.#counts = grow(this.#counts, cell + 1);
    this.#buckets[cell] = bucket;
    this.#ids[cell] = id;
    this.#counts[cell] = count;
    this.#size++;
    return cell;
  }

  /** Without lost ids and those that get a negative one. */
  #rebuild(rename: (id: number) => number): void {
    const size = this.#size;
    this.#size = 0;
    for (let cell = 0; cell < size; cell++) {
      const id = this.#ids[cell] ?? 0;
      const newId = this.isLost(id) ? -1 : rename(id);
      if (newId >= 0) this.#push(newId, this.#buckets[cell] ?? 0, this.#counts[cell] ?? 0);
    }
    this.#slots.fill(0);
    this.#fillSlots();
  }

  #fillSlots(): void {
    const mask = this.#slots.length - 1;
    for (let cell = 0; cell < this.#size; cell++) {
      let slot = slotFor(this.#ids[cell] ?? 0, this.#buckets[cell] ?? 0, mask);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = cell + 1;
    }
  }
}

function slotFor(id: number, bucket: number, mask: number): number {
  const hash = Math.imul(Math.imul(bucket, 0x9e3779b1) ^ id, 0x85ebca6b);
  return (hash ^ (hash >>> 15)) & mask;
}

/** 4,096 registers: the estimate is off by 1.6 % (one standard deviation). */
const INDEX_BITS = 12;
const REGISTERS = 2 ** INDEX_BITS;

/** Estimates the number of different texts among those added, in 4 KiB (HyperLogLog). */
export class DistinctSketch {
  readonly registers: Uint8Array<ArrayBuffer>;

  constructor(registers: Uint8Array<ArrayBuffer> = new Uint8Array(REGISTERS)) {
    this.registers = registers;
  }

  add(text: string): void {
    this.#note(textHash(text, 1), textHash(text, 2));
  }

  /** A text in UTF-8. Other than with `add`, a text that is not ASCII has other hashes: a sketch takes only one kind. */
  addBytes(bytes: Uint8Array, start: number, end: number): void {
    this.#note(bytesHash(bytes, start, end, 1), bytesHash(bytes, start, end, 2));
  }

  merge({ registers }: Pick<DistinctSketch, 'registers'>): void {
    for (let index = 0; index < REGISTERS; index++) {
      const rank = registers[index] ?? 0;
      if (rank > (this.registers[index] ?? 0)) this.registers[index] = rank;
    }
  }

  estimate(): number {
    let sum = 0;
    let empty = 0;
    for (const rank of this.registers) {
      sum += 2 ** -rank;
      if (rank === 0) empty++;
    }
    const raw = ((0.7213 / (1 + 1.079 / REGISTERS)) * REGISTERS ** 2) / sum;
    // Few texts leave registers empty, of which there are as many as by chance.
    const isSmall = raw <= 2.5 * REGISTERS && empty > 0;
    return Math.round(isSmall ? REGISTERS * Math.log(REGISTERS / empty) : raw);
  }

  /** Two hashes: together they are long enough for any number of texts that logs contain. */
  #note(first: number, second: number): void {
    const index = first >>> (32 - INDEX_BITS);
    const rank = Math.clz32(second) + 1;
    if (rank > (this.registers[index] ?? 0)) this.registers[index] = rank;
  }
}
