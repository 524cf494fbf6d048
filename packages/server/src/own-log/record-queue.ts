/** Records waiting to be written, oldest first, bounded in bytes. Records that do not fit are dropped and counted. */
export class RecordQueue {
  readonly #maxBytes: number;
  #records: Buffer[] = [];
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
    return this.#records[0]?.length ?? 0;
  }

  push(record: string): boolean {
    const bytes = Buffer.from(record);
    const fits = this.#queuedBytes + bytes.length <= this.#maxBytes;
    if (fits) {
      this.#records.push(bytes);
      this.#queuedBytes += bytes.length;
      this.#accepted += 1;
    } else this.drop(1);
    return fits;
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
    let bytes = this.firstBytes;
    let records = 1;
    for (let next = this.#records[1]; next && bytes + next.length <= maxBytes; next = this.#records[records]) {
      bytes += next.length;
      records += 1;
    }
    const taken = this.#records.splice(0, records);
    return taken.length === 0 ? undefined : { bytes: Buffer.concat(taken), records: taken.length, offset: 0 };
  }

  release(batch: Batch): void {
    this.#queuedBytes -= batch.bytes.length;
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
