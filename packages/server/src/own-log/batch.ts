const LINE_FEED = 0x0a;

/** Which file, and how long it was. */
export interface FilePosition {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
}

/** Whole records on their way to the file. */
export interface Batch {
  readonly bytes: Buffer;
  readonly records: number;
  /** How many of the bytes are in the file. */
  offset: number;
  /** Where the bytes stopped when a write failed half-way; undefined while none did, or when it could not be seen. */
  stoppedAt?: FilePosition | undefined;
}

/**
 * Chooses where a batch goes on after a failure. Where the bytes stopped, if the file still ends there: true.
 * Otherwise (another file, or somebody wrote after us) the record that was cut is written again as a whole: false.
 */
export function resumeBatch(batch: Batch, file: FilePosition): boolean {
  const { stoppedAt } = batch;
  if (batch.offset === 0 || batch.offset >= batch.bytes.length) return false;
  if (stoppedAt && stoppedAt.dev === file.dev && stoppedAt.ino === file.ino && stoppedAt.size === file.size)
    return true;
  batch.offset = batch.bytes.lastIndexOf(LINE_FEED, batch.offset - 1) + 1;
  return false;
}
