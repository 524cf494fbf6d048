/** The records that start in a block, in file order. Filled again for every block: copy what is to stay. */
export interface RecordTable {
  count: number;
  /** Positions in the loaded text. */
  starts: Uint32Array;
  /** Epoch ms; `NaN` where a record has no time. */
  times: Float64Array;
  /** Level ranks; 0 where there is none. */
  ranks: Uint8Array;
  /** Where the last record ends. */
  end: number;
  /** The first one was made to start here: it is a part of a longer one. */
  firstContinues: boolean;
}

/** Room for the records of formats that are read line by line; grows as needed. */
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
