const LINE_FEED = 0x0a;

/** A file and its length. */
export interface FilePosition {
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
