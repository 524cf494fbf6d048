/** The records that start in a block, in file order. Reused for every block: copy what must be kept. */
export interface RecordTable {
  count: number;
  /** Positions in the loaded text. */
  starts: Uint32Array;
  /** Epoch ms; `NaN` if a record has no time. */
  times: Float64Array;
  /** Level ranks; 0 if there is none. */
  ranks: Uint8Array;
  /** Where the last record ends. */
  end: number;
  /** The first record was split from a longer one that starts before the block. */
  firstContinues: boolean;
}

/** Growable storage for the records of formats that are read line by line. */
export class TableRoom {
  starts = new Uint32Array(4096);
  times = new Float64Array(4096);
  ranks = new Uint8Array(4096);

  ensure(count: number): void {
    if (count <= this.starts.length) return;
    const size = Math.max(count, this.starts.length * 2);
    this.starts = grown(this.starts, new Uint32Array(size));
    this.times = grown(this.times, new Float64Array(size));
    this.ranks = grown(this.ranks, new Uint8Array(size));
  }
}

function grown<T extends Uint32Array | Float64Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
