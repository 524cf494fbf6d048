import { grow } from './grow.ts';
import { numbersIn } from './pack-room.ts';

/** Counts of single values in single buckets. */
export const MAX_CELLS = 200_000;

const FIRST_SLOTS = 2 ** 8;

/** Counts by value and bucket. If there are too many, those of the rarest values are dropped. */
export class TimeCells {
  #maxCells: number;
  /** Of each cell, in the order in which they were added. */
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
