import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { GzResumePoint } from './gz-stream.ts';

/** A resume point and the window that matches after it may refer to. */
export interface Checkpoint extends GzResumePoint {
  window: Uint8Array;
}

/*
 * How checkpoints are packed: their number, then one row of numbers each, then the windows. A window of log text
 * deflates to a quarter of its size or less, which is worth a third of a millisecond per window.
 */
const HEAD_NUMBERS = 1;
const ROW_NUMBERS = 5;
const NUMBER_BYTES = 8;

export function packCheckpoints(checkpoints: readonly Checkpoint[]): SharedArrayBuffer {
  const windows = checkpoints.map(({ window }) => (window.length > 0 ? deflateRawSync(window, { level: 1 }) : window));
  const numbers = HEAD_NUMBERS + checkpoints.length * ROW_NUMBERS;
  let windowAt = numbers * NUMBER_BYTES;
  const shared = new SharedArrayBuffer(windows.reduce((sum, { length }) => sum + length, windowAt));
  const table = new Float64Array(shared, 0, numbers);
  const bytes = Buffer.from(shared);
  table[0] = checkpoints.length;
  for (const [row, { textAt, bitAt, blockAt }] of checkpoints.entries()) {
    const window = windows[row] ?? new Uint8Array();
    table.set([textAt, bitAt, blockAt, windowAt, window.length], HEAD_NUMBERS + row * ROW_NUMBERS);
    bytes.set(window, windowAt);
    windowAt += window.length;
  }
  return shared;
}

/** The packed checkpoints of a map. */
export class PackedCheckpoints {
  readonly #shared: SharedArrayBuffer;
  readonly #table: Float64Array;

  constructor(shared: SharedArrayBuffer) {
    this.#shared = shared;
    const count = new Float64Array(shared, 0, HEAD_NUMBERS)[0] ?? 0;
    this.#table = new Float64Array(shared, 0, HEAD_NUMBERS + count * ROW_NUMBERS);
  }

  get count(): number {
    return this.#table[0] ?? 0;
  }

  /** The index of the last checkpoint at or before a text offset. The first one is at its start. */
  indexBefore(textAt: number): number {
    let low = 0;
    let high = this.count;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.textAt(middle) <= textAt) low = middle;
      else high = middle;
    }
    return low;
  }

  textAt(index: number): number {
    return this.#number(index, 0);
  }

  at(index: number): Checkpoint {
    const packed = Buffer.from(this.#shared, this.#number(index, 3), this.#number(index, 4));
    return {
      textAt: this.textAt(index),
      bitAt: this.#number(index, 1),
      blockAt: this.#number(index, 2),
      window: packed.length > 0 ? inflateRawSync(packed) : packed,
    };
  }

  #number(index: number, column: number): number {
    return this.#table[HEAD_NUMBERS + index * ROW_NUMBERS + column] ?? 0;
  }
}
