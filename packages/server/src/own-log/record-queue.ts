/** Records waiting to be written, oldest first, bounded in bytes. Records that do not fit are dropped and counted. */
export class RecordQueue {
  readonly #maxBytes: number;
  #records: string[] = [];
  #head = 0;
  #returned: Batch | undefined;
  #queuedBytes = 0;
  #accepted = 0;
  #dropped = 0;
  #unreportedDrops = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes in memory, including batches that were taken and not released. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Total number of accepted records. */
  get accepted(): number {
    return this.#accepted;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Bytes of the oldest record; 0 when there is none. */
  get firstBytes(): number {
    const first = this.#records[this.#head];
    return first === undefined ? 0 : Buffer.byteLength(first);
  }

  push(record: string): boolean {
    const bytes = Buffer.byteLength(record);
    if (this.#queuedBytes + bytes > this.#maxBytes) {
      this.drop(1);
      return false;
    }
    this.#records.push(record);
    this.#queuedBytes += bytes;
    this.#accepted += 1;
    return true;
  }

  drop(records: number): void {
    this.#dropped += records;
    this.#unreportedDrops += records;
  }

  /** Adds a record by `describe` that reports the drops since the last report; if it does not fit, they are reported later. */
  reportDrops(describe: (dropped: number) => string): void {
    const unreported = this.#unreportedDrops;
    if (unreported === 0) return;
    const record = describe(unreported);
    if (this.#queuedBytes + Buffer.byteLength(record) > this.#maxBytes) return;
    this.#unreportedDrops = 0;
    this.push(record);
  }

  /** Takes complete records of at most `maxBytes` in total, at least one if there is any. `release` frees their space. */
  take(maxBytes: number): Batch | undefined {
    if (this.#returned) return this.#takeReturned();
    const start = this.#head;
    let bytes = 0;
    for (let record = this.#records[this.#head]; record !== undefined; record = this.#records[this.#head]) {
      const more = Buffer.byteLength(record);
      if (this.#head > start && bytes + more > maxBytes) break;
      bytes += more;
      this.#head += 1;
    }
    if (this.#head === start) return undefined;
    const taken = this.#records.slice(start, this.#head);
    this.#forgetTaken();
    return { bytes: Buffer.from(taken.join('')), records: taken.length, offset: 0 };
  }

  release(batch: Batch): void {
    this.#queuedBytes -= batch.bytes.length;
  }

  /** Returns a batch that could not be written: the next `take` returns it again. */
  putBack(batch: Batch): void {
    this.#returned = batch;
  }

  #takeReturned(): Batch | undefined {
    const batch = this.#returned;
    this.#returned = undefined;
    return batch;
  }

  /** Compacting only when the rest is the smaller half keeps the cost per record constant. */
  #forgetTaken(): void {
    if (this.#head * 2 < this.#records.length) return;
    this.#records = this.#records.slice(this.#head);
    this.#head = 0;
  }
}

const LINE_FEED = 0x0a;

/** A file and its length. */
interface FilePosition {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
}

/** Complete records that are being written. */
export interface Batch {
  readonly bytes: Buffer;
  readonly records: number;
  /** How many of the bytes were written. */
  offset: number;
  /** Where a failed write stopped; undefined if none failed, or if this is unknown. */
  stoppedAt?: FilePosition | undefined;
}

/**
 * Decides where a batch continues after a failed write. True: where it stopped, if the file still ends there.
 * False: with the record that was cut, because it is another file or another process wrote after us.
 */
export function resumeBatch(batch: Batch, file: FilePosition): boolean {
  const { stoppedAt } = batch;
  if (batch.offset === 0 || batch.offset >= batch.bytes.length) return false;
  if (stoppedAt && stoppedAt.dev === file.dev && stoppedAt.ino === file.ino && stoppedAt.size === file.size)
    return true;
  batch.offset = batch.bytes.lastIndexOf(LINE_FEED, batch.offset - 1) + 1;
  return false;
}
