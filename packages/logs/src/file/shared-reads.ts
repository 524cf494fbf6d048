import { readFd, readFdNow, statFd } from '../fs-calls.ts';
import { CleanRanges } from '../scrub/clean-ranges.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import { fileStamp, statsStamp } from './file-stamp.ts';
import type { LogHandle } from './handle-cache.ts';

/**
 * Size of a chunk. Measured over loopback, a tail of 16 MiB is 1.3 times as fast in chunks of 1 MiB as in chunks of 256
 * KiB, and reading ahead adds nothing to that. The extra page holds the byte before a window, so that a tail of 1 MiB
 * is one read.
 */
export const CHUNK_BYTES = 1024 * 1024 + 4096;

/** Chunk size while many readers hold a chunk, so that the memory of 64 slow readers stays far below 64 MiB. */
export const CROWDED_CHUNK_BYTES = 256 * 1024 + 4096;

/** Bytes that may be shared with others: they are never written to, and are returned after use. */
export interface LentChunk {
  bytes: Buffer;
  /** Whether the file ended before the requested bytes. */
  short: boolean;
  release(): void;
}

type Filled = Pick<LentChunk, 'bytes' | 'short'>;

interface Reading {
  /** Identifies the bytes. */
  key: string;
  users: number;
  /** Allocated when the read begins. */
  buffer: Buffer | undefined;
  /** Increases in the order in which reads begin. */
  number: number;
  filled: Promise<Filled>; // kept: on the path of every view; the buffer behind it is counted by its users
}

/**
 * Reads chunks. Readers that request the same bytes at the same time share one read and one buffer: many clients tail
 * the same file. No reader gets bytes older than its request: a request made while such a read is running waits for the
 * next one, together with all others made meanwhile. But a reader that started before that read began, and gets to
 * these bytes only now, uses them, even while others are still sending them. Measured with 16 readers of one tail, this
 * is 1.5 times as fast at 1 MiB.
 */
export class SharedReads {
  readonly #scrubber: () => Scrubber | undefined;
  readonly #pool = new BufferPool();
  /** What need not be read again. */
  readonly tails = new KeptTails();
  /** Ranges without secrets in files that have not changed for long enough. */
  readonly #clean = new CleanRanges();
  /** The latest read of each key that is running or still lent. */
  readonly #latest = new Map<string, Reading>();
  readonly #next = new Map<string, Reading>();
  #begun = 0;

  /** Secrets are masked in what is read, once for all who share it; without a scrubber nothing is masked. */
  constructor(scrubber: () => Scrubber | undefined = () => undefined) {
    this.#scrubber = scrubber;
  }

  /** The scrubber currently in use. */
  get scrubber(): Scrubber | undefined {
    return this.#scrubber();
  }

  /** The current position in the sequence of reads: taken by readers of several chunks before the first one. */
  get sequence(): number {
    return this.#begun;
  }

  /** Buffers not returned yet. */
  get lentBuffers(): number {
    return this.#pool.lent;
  }

  /**
   * Reads up to `most` bytes from `position` on: as many as fit into a chunk. The descriptor stays open until it
   * settles. `packed` bytes are returned unmasked: secrets are masked after decompression. The bytes were read after
   * the sequence number `since`, which defaults to now. With a `stamp` that changes with every change of the file,
   * bytes known to contain no secrets are not scanned for them again. With `inMemory` they are read on this thread.
   */
  async read(
    fd: number,
    position: number,
    most: number,
    { packed = false, since = this.#begun, stamp, inMemory = false }: ReadChunkOptions = {},
  ): Promise<LentChunk> {
    const wanted = { fd, position, most: Math.min(most, CHUNK_BYTES), since, stamp, inMemory };
    const reading = this.#join(wanted, packed ? undefined : this.#scrubber());
    reading.users++;
    const release = () => this.#release(reading);
    try {
      const filled = await reading.filled;
      return { bytes: filled.bytes, short: filled.short, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** A read that is recent enough, or the next one to begin: in the next turn, or when the running one is done. */
  #join(wanted: Wanted, scrubber: Scrubber | undefined): Reading {
    const key = `${wanted.fd}:${wanted.position}:${wanted.most}:${scrubber?.id ?? ''}`;
    const latest = this.#latest.get(key);
    if (latest && latest.number > wanted.since) return latest;
    const waiting = this.#next.get(key);
    if (waiting) return waiting;
    const start = () => {
      this.#next.delete(key);
      this.#latest.set(key, reading);
      reading.number = ++this.#begun;
      reading.buffer = this.#pool.take();
      return this.#fill(reading.buffer, wanted, scrubber);
    };
    const before: Promise<unknown> = latest?.filled ?? Promise.resolve();
    const reading: Reading = { key, users: 0, buffer: undefined, number: 0, filled: before.then(start, start) };
    this.#next.set(key, reading);
    return reading;
  }

  /** Reads a margin on both sides if secrets are masked: they may cross the borders. */
  async #fill(buffer: Buffer, wanted: Wanted, scrubber: Scrubber | undefined): Promise<Filled> {
    const { fd, position, most, stamp, inMemory } = wanted;
    const before = Math.min(scrubber?.leftBytes ?? 0, position);
    const behind = scrubber?.rightBytes ?? 0;
    const length = Math.min(most, buffer.length - before - behind);
    const read = { position: position - before, length: before + length + behind };
    const got = inMemory ? readFdNow(fd, buffer, read) : await readFd(fd, buffer, read);
    const end = Math.max(before, Math.min(got, before + length));
    const filled = { bytes: buffer.subarray(before, end), short: end - before < length };
    if (!scrubber) return filled;
    const range = { from: position, to: position + filled.bytes.length };
    const key = `${scrubber.id}:${stamp}`;
    // The stamp is checked after the read: only then the bytes are known to be those of the stamp.
    const isKnown = stamp !== undefined && this.#clean.covers(key, range.from, range.to);
    if (isKnown && (await hasStamp(fd, stamp))) return filled;
    const hadSecrets = scrubber.mask(buffer.subarray(0, got), { from: before, to: end, atEnd: got < read.length });
    if (stamp !== undefined && !hadSecrets && (await hasStamp(fd, stamp))) this.#clean.add(key, range);
    return filled;
  }

  #release(reading: Reading): void {
    reading.users--;
    if (reading.users > 0) return;
    if (this.#latest.get(reading.key) === reading) this.#latest.delete(reading.key);
    if (reading.buffer) this.#pool.give(reading.buffer);
  }
}

interface ReadChunkOptions {
  packed?: boolean;
  since?: number;
  stamp?: string | undefined;
  inMemory?: boolean;
}

async function hasStamp(fd: number, stamp: string): Promise<boolean> {
  return statsStamp(await statFd(fd)) === stamp;
}

interface Wanted {
  fd: number;
  position: number;
  most: number;
  since: number;
  stamp: string | undefined;
  inMemory: boolean;
}

const MAX_TAILS = 16;

/** What all tails together may hold. */
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
interface TailKey {
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

/** Large buffers lent at once; further readers get small ones. */
export const MAX_LARGE_LENT = 24;

/** Free buffers of each size kept for reuse; any beyond that are left to the garbage collector. */
const MAX_FREE = 16;

/** After this long without a reader they are, too: they take up to 20 MiB. */
const IDLE_MS = 5000;

/**
 * Lends chunk buffers. Fresh memory for every chunk costs page faults and garbage: measured at a tenth of the tail
 * rate.
 */
export class BufferPool {
  readonly #freeLarge: Buffer[] = [];
  readonly #freeSmall: Buffer[] = [];
  #lentLarge = 0;
  #lentSmall = 0;
  #usedMs = 0;
  #timer: NodeJS.Timeout | undefined;

  take(): Buffer {
    this.#usedMs = performance.now();
    if (this.#lentLarge < MAX_LARGE_LENT) {
      this.#lentLarge++;
      return this.#freeLarge.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
    }
    this.#lentSmall++;
    return this.#freeSmall.pop() ?? Buffer.allocUnsafeSlow(CROWDED_CHUNK_BYTES);
  }

  give(buffer: Buffer): void {
    const isLarge = buffer.length === CHUNK_BYTES;
    if (isLarge) this.#lentLarge--;
    else this.#lentSmall--;
    const free = isLarge ? this.#freeLarge : this.#freeSmall;
    if (free.length < MAX_FREE) free.push(buffer);
    this.#timer ??= setTimeout(() => this.#rest(), IDLE_MS).unref();
  }

  #rest(): void {
    this.#timer = undefined;
    if (performance.now() - this.#usedMs < IDLE_MS) {
      this.#timer = setTimeout(() => this.#rest(), IDLE_MS).unref();
      return;
    }
    this.#freeLarge.length = 0;
    this.#freeSmall.length = 0;
  }

  /** Free buffers kept for reuse. */
  get free(): number {
    return this.#freeLarge.length + this.#freeSmall.length;
  }

  /** Buffers not returned yet; checked by the leak tests. */
  get lent(): number {
    return this.#lentLarge + this.#lentSmall;
  }
}

/**
 * The chunks of a short stream: there is only one, and it is at hand. A consumer that knows this class can take it
 * without iterating, which costs a short response more than reading its bytes.
 */
export class OneChunk implements AsyncIterable<Uint8Array> {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    yield this.bytes;
  }
}
