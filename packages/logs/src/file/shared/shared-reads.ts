import { CleanRanges } from '../../scrub/clean-ranges.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { statsStamp } from '../file-stamp.ts';
import { readFd, statFd } from '../fs-calls.ts';
import { BufferPool, CHUNK_BYTES } from './buffer-pool.ts';
import { KeptTails } from './kept-tails.ts';

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
  filled: Promise<Filled>;
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
   * bytes known to contain no secrets are not scanned for them again.
   */
  async read(
    fd: number,
    position: number,
    most: number,
    { packed = false, since = this.#begun, stamp }: ReadChunkOptions = {},
  ): Promise<LentChunk> {
    const wanted = { fd, position, most: Math.min(most, CHUNK_BYTES), since, stamp };
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
    const { fd, position, most, stamp } = wanted;
    const before = Math.min(scrubber?.leftBytes ?? 0, position);
    const behind = scrubber?.rightBytes ?? 0;
    const length = Math.min(most, buffer.length - before - behind);
    const read = { position: position - before, length: before + length + behind };
    const got = await readFd(fd, buffer, read);
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
}
