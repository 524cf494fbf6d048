/** Counts of single values in single buckets. */
export const MAX_CELLS = 200_000;

/** Counts by value and bucket. If there are too many, those of the rarest values are dropped. */
export class TimeCells {
  readonly #maxCells: number;
  /** For each bucket the counts by id. */
  #rows = new Map<number, Map<number, number>>();
  #size = 0;
  /** Ids whose cells were dropped. */
  #lost = new Set<number>();
  /** Neighbouring records mostly fall into the same bucket. */
  #bucket = Number.NaN;
  #row = new Map<number, number>();

  constructor(maxCells: number = MAX_CELLS) {
    this.#maxCells = maxCells;
  }

  get isFull(): boolean {
    return this.#size > this.#maxCells;
  }

  add(id: number, bucket: number, count: number): void {
    if (this.#lost.size > 0 && this.#lost.has(id)) return;
    if (bucket !== this.#bucket) this.#switchTo(bucket);
    const known = this.#row.get(id);
    if (known === undefined) this.#size++;
    this.#row.set(id, (known ?? 0) + count);
  }

  drop(id: number): void {
    this.#lost.add(id);
  }

  isLost(id: number): boolean {
    return this.#lost.has(id);
  }

  /** Keeps the cells of the values that were counted most, half as many as there may be. */
  dropRarest(counts: readonly number[]): void {
    const sizes = new Map<number, number>();
    for (const row of this.#rows.values()) for (const id of row.keys()) sizes.set(id, (sizes.get(id) ?? 0) + 1);
    const ids = [...sizes.keys()].sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0));
    let room = Math.floor(this.#maxCells / 2);
    for (const id of ids) {
      room -= sizes.get(id) ?? 0;
      if (room < 0) this.#lost.add(id);
    }
    this.#rebuild((id) => (this.#lost.has(id) ? undefined : id));
  }

  /** Only these values remain, and get new ids: their index in the list. */
  keep(ids: readonly number[]): void {
    const renamed = new Map(ids.map((id, index) => [id, index]));
    this.#rebuild((id) => (this.#lost.has(id) ? undefined : renamed.get(id)));
    this.#lost = new Set([...this.#lost].flatMap((id) => renamed.get(id) ?? []));
  }

  /** All cells: bucket, id, count. */
  *all(): Generator<[number, number, number], void, undefined> {
    for (const [bucket, row] of this.#rows) {
      for (const [id, count] of row) if (!this.#lost.has(id)) yield [bucket, id, count];
    }
  }

  #switchTo(bucket: number): void {
    const row = this.#rows.get(bucket) ?? new Map<number, number>();
    this.#rows.set(bucket, row);
    this.#bucket = bucket;
    this.#row = row;
  }

  #rebuild(rename: (id: number) => number | undefined): void {
    const rows = this.#rows;
    this.#rows = new Map();
    this.#bucket = Number.NaN;
    this.#size = 0;
    for (const [bucket, row] of rows) {
      const kept = new Map<number, number>();
      for (const [id, count] of row) {
        const newId = rename(id);
        if (newId !== undefined) kept.set(newId, count);
      }
      this.#size += kept.size;
      if (kept.size > 0) this.#rows.set(bucket, kept);
    }
  }
}
