/** An open, verified regular file of the log directory. Its size when it was opened is its end. */
export interface LogHandle {
  readonly name: string;
  readonly fd: number;
  readonly sizeBytes: number;
  readonly modifiedNs: bigint;
  /** Time of the last change of content, name or owner (ctime). Unlike the modification time, it cannot be set back. */
  readonly changedNs: bigint;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Returns the handle; the descriptor is closed when nobody uses it any more. May be called more than once. */
  release(): void;
}
