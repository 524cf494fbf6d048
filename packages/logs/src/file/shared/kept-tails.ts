import { fileStamp, statsStamp } from '../file-stamp.ts';
import { statFd } from '../fs-calls.ts';
import type { LogHandle } from '../log-handle.ts';
import { CROWDED_CHUNK_BYTES } from './buffer-pool.ts';

const MAX_TAILS = 16;

/** Of all tails together. */
const MAX_ALL_BYTES = 2 * 1024 ** 2;

/** Longer ones are never kept. */
const MAX_BYTES = CROWDED_CHUNK_BYTES;

/** Longer ones are kept when they are requested again: copying one for every request would take longer than reading it. */
const MAX_AT_ONCE_BYTES = 64 * 1024;

/** Long tails that were requested once. */
const MAX_ONCE = 64;

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
  readonly #once = new Set<string>();
  #bytes = 0;

  find({ handle, size, scrubberId }: TailKey): Uint8Array | undefined {
    const kept = this.#kept.get(mapKey(handle, size));
    return kept && kept.scrubberId === scrubberId && hasSameStamp(kept.file, handle) ? kept.bytes : undefined;
  }

  /** The file must have been settled for writers (see file-stamp.ts) before the bytes were read. They are copied. */
  async keep({ handle, size, scrubberId }: TailKey, bytes: Uint8Array): Promise<void> {
    const key = mapKey(handle, size);
    if (bytes.length > MAX_BYTES || (bytes.length > MAX_AT_ONCE_BYTES && this.#isFirst(key))) return;
    if (statsStamp(await statFd(handle.fd)) !== fileStamp(handle)) return;
    // Requests at the same time share what is read, and one of them has kept it.
    if (this.find({ handle, size, scrubberId })) return;
    this.#drop(key);
    this.#kept.set(key, { file: handle, scrubberId, bytes: Buffer.from(bytes) });
    this.#bytes += bytes.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_TAILS && this.#bytes <= MAX_ALL_BYTES) break;
      this.#drop(oldest);
    }
  }

  #isFirst(key: string): boolean {
    if (this.#once.delete(key)) return false;
    this.#once.add(key);
    for (const oldest of this.#once) {
      if (this.#once.size <= MAX_ONCE) break;
      this.#once.delete(oldest);
    }
    return true;
  }

  #drop(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes.length ?? 0;
    this.#kept.delete(key);
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
