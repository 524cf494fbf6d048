/** An open, verified regular file of the log directory. Its size at opening is its end. */
export interface LogHandle {
  readonly name: string;
  readonly fd: number;
  readonly sizeBytes: number;
  readonly modifiedNs: bigint;
  readonly ino: bigint;
  /** Gives the handle back; the descriptor is closed when no one uses it any more. More than once is harmless. */
  release(): void;
}
