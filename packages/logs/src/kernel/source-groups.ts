import type { LoadedWasm } from '@porthole/records';

interface Exports {
  groupSources(
    count: number,
    end: number,
    ranks: number,
    hasTimes: boolean,
    fromMs: number,
    toMs: number,
    from: number,
    to: number,
  ): number;
}

/** Which records are grouped. */
export interface GroupedRecords {
  /** How many `heads` has found, and where their text ends. */
  count: number;
  end: number;
  /** A bit for each rank of a level. */
  rankBits: number;
  hasTimes: boolean;
  fromMs: number;
  toMs: number;
  /** Positions at which they may start. */
  from: number;
  to: number;
}

/** The part of the kernel that groups the records of a block of the contract's format by level and source. */
export class SourceGroups {
  /** Of each group: its times, where its source is, its records, where the newest one starts, and its level. */
  readonly firstMs: Float64Array;
  readonly lastMs: Float64Array;
  readonly starts: Uint32Array;
  readonly lengths: Uint32Array;
  readonly counts: Uint32Array;
  readonly newest: Uint32Array;
  readonly ranks: Uint32Array;
  readonly #exports: Exports;
  readonly #lines: Uint32Array;
  readonly #foundValue: Uint32Array;

  constructor({ buffer, exports, constant: at }: LoadedWasm) {
    this.#exports = exports as unknown as Exports;
    const size = at('MAX_BLOCK_GROUPS');
    this.firstMs = new Float64Array(buffer, at('GROUP_FIRST_MS'), size);
    this.lastMs = new Float64Array(buffer, at('GROUP_LAST_MS'), size);
    this.starts = new Uint32Array(buffer, at('GROUP_STARTS'), size);
    this.lengths = new Uint32Array(buffer, at('GROUP_LENGTHS'), size);
    this.counts = new Uint32Array(buffer, at('GROUP_COUNTS'), size);
    this.newest = new Uint32Array(buffer, at('GROUP_NEWEST'), size);
    this.ranks = new Uint32Array(buffer, at('GROUP_RANKS'), size);
    this.#lines = new Uint32Array(buffer, at('LINES'), at('MAX_LINES'));
    this.#foundValue = new Uint32Array(buffer, at('FOUND_VALUE'), 1);
  }

  /** Groups records of the table that `heads` has filled. Returns the number of groups. */
  group({ count, end, rankBits, hasTimes, fromMs, toMs, from, to }: GroupedRecords): number {
    return this.#exports.groupSources(count, end, rankBits, hasTimes, fromMs, toMs, from, to);
  }

  /** The indices of the records that are in no group: they have no source, or are unusual, or there are too many groups. */
  get others(): Uint32Array {
    return this.#lines.subarray(0, this.#foundValue[0] ?? 0);
  }
}
