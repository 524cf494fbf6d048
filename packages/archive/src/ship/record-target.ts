/** A file of which the target has records. */
export interface KnownFile {
  id: string;
  /** Time of the newest of them; 0 if none has one. */
  toMs: number;
}

/** Where records are shipped to. All methods throw an `ArchiveError`. */
export interface RecordTarget {
  /** Of what `pack` returns: a batch that was packed in another one, by another version, is made anew. */
  readonly format: string;
  /** Makes sure that it can take records. Called before the first batch and after failures. */
  prepare(signal: AbortSignal): Promise<void>;
  /**
   * What is sent for these rows: lines of JSON of `ArchiveRow`, columns with their default value left out. A copy: the
   * memory of the rows is used again. Does not depend on `prepare`.
   */
  pack(rows: Buffer): Promise<Buffer>;
  /**
   * Sends what was packed, as often as it takes. Resolves once the rows are stored, together or not at all as far as the
   * target can do that. Rows that were stored before replace themselves.
   */
  send(packed: Buffer, signal: AbortSignal): Promise<void>;
  /** Files of a log of which it has records, newest first: for a node that has lost its positions. */
  knownFiles(log: { cluster: string; node: string; log: string }, signal: AbortSignal): Promise<KnownFile[]>;
}
