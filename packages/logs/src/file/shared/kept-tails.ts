import { fileStamp, statsStamp } from '../file-stamp.ts';
import { statFd } from '../fs-calls.ts';
import type { LogHandle } from '../log-handle.ts';

/** One MiB in all. */
const MAX_TAILS = 16;
const MAX_BYTES = 64 * 1024;

interface KeptTail {
  file: LogHandle;
  scrubberId: string | undefined;
  bytes: Uint8Array;
}

/** Which tail of which file, with which secrets masked. */
export interface TailKey {
  handle: LogHandle;
  size: number;
  scrubberId: string | undefined;
}

/**
 * Short tails of files at rest, so that they are not read again for every request: a read takes a thread of the pool, and
 * that more time than all else of a short response. A tail counts only for the very stamp that its file had before and
 * after it was read.
 */
export class KeptTails {
  readonly #kept = new Map<string, KeptTail>();

  find({ handle, size, scrubberId }: TailKey): Uint8Array | undefined {
    const kept = this.#kept.get(mapKey(handle, size));
    return kept && kept.scrubberId === scrubberId && hasSameStamp(kept.file, handle) ? kept.bytes : undefined;
  }

  /** The file must have been settled for writers (see file-stamp.ts) before the bytes were read. They are copied. */
  async keep({ handle, size, scrubberId }: TailKey, bytes: Uint8Array): Promise<void> {
    if (bytes.length > MAX_BYTES || statsStamp(await statFd(handle.fd)) !== fileStamp(handle)) return;
    const key = mapKey(handle, size);
    this.#kept.delete(key);
    this.#kept.set(key, { file: handle, scrubberId, bytes: Buffer.from(bytes) });
    if (this.#kept.size > MAX_TAILS) this.#kept.delete(this.#kept.keys().next().value ?? '');
  }
}

function mapKey({ name }: LogHandle, size: number): string {
  return `${size}:${name}`;
}

/** Compared number by number: a stamp as text takes as long as reading the file. */
function hasSameStamp(one: LogHandle, other: LogHandle): boolean {
  return (
    one.ino === other.ino &&
    one.dev === other.dev &&
    one.sizeBytes === other.sizeBytes &&
    one.modifiedNs === other.modifiedNs &&
    one.changedNs === other.changedNs
  );
}
