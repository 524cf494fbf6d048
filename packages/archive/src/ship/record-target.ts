/** Rows of records that are stored together or not at all, as far as the target can do that. */
export interface RowBatch {
  /** Rows of `ArchiveRow` as lines of JSON; columns with their default value are left out. */
  body: Buffer;
  rows: number;
}

/** Where records are shipped to. All methods throw an `ArchiveError`. */
export interface RecordTarget {
  /** Makes sure that it can take records. Called before the first batch and after failures. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Resolves once the rows are stored. Rows that were stored before replace themselves. */
  send(batch: RowBatch, signal: AbortSignal): Promise<void>;
  /** Identities of files of a log of which it has records, newest first: for a node that has lost its positions. */
  knownFiles(log: { cluster: string; node: string; log: string }, signal: AbortSignal): Promise<string[]>;
}
