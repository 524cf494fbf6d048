/** An open, verified regular file of the log directory. Its size at opening is its end. */
export interface LogHandle {
  readonly name: string;
  readonly fd: number;
  readonly sizeBytes: number;
  readonly modifiedNs: bigint;
  /** Of the last change of its content, its name or its owner. Unlike the time of modification, nobody can set it back. */
  readonly changedNs: bigint;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Gives the handle back; the descriptor is closed when no one uses it any more. More than once is harmless. */
  release(): void;
}
