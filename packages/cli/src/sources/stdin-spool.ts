import { fstatSync, rmSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ONCE, Shared } from '@porthole/logs/shared';

const STDIN = 0;
const NEWLINE = 10;

/** What a follow keeps of an endless input: twice this. */
const FOLLOWED_BYTES = 128 * 1024 ** 2;

/** Name of the log that standard input is read as. */
export const STDIN_FILE = 'stdin';

/** Whether something is piped into the program. Files and sockets are not: jobs inherit those without meaning them. */
export function hasPipedInput(): boolean {
  try {
    return fstatSync(STDIN).isFIFO();
  } catch (error) {
    // Closed.
    if (error instanceof Error && 'code' in error && error.code === 'EBADF') return false;
    throw error;
  }
}

/** Copies standard input to a file of its own directory, where it is read like any log. */
export class StdinSpool {
  readonly dir: string;
  readonly #maxBytes: number;
  readonly #remove: () => void;
  readonly #copying = new Shared<void>(ONCE);
  #bytes = 0;
  #isClosed = false;

  /** Followed, the input may be endless: older parts are dropped. */
  static async start({ isFollowed }: { isFollowed: boolean }): Promise<StdinSpool> {
    const dir = await mkdtemp(join(tmpdir(), 'porthole-stdin-'));
    const spool = new StdinSpool(dir, isFollowed ? FOLLOWED_BYTES : Number.POSITIVE_INFINITY);
    if (!isFollowed) await spool.ended;
    return spool;
  }

  private constructor(dir: string, maxBytes: number) {
    this.dir = dir;
    this.#maxBytes = maxBytes;
    this.#remove = () => rmSync(dir, { recursive: true, force: true });
    process.once('exit', this.#remove);
    void this.ended;
  }

  /** Settles when the input ends. */
  get ended(): Promise<void> {
    return this.#copying.run(() => this.#copy());
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    process.stdin.destroy();
    process.off('exit', this.#remove);
    await rm(this.dir, { recursive: true, force: true });
  }

  async #copy(): Promise<void> {
    let file = await this.#open();
    let written = 0;
    try {
      for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
        if (this.#isClosed) return;
        this.#bytes += chunk.length;
        const end = written < this.#maxBytes ? -1 : chunk.lastIndexOf(NEWLINE);
        await file.writeFile(chunk.subarray(0, end < 0 ? undefined : end + 1));
        written += chunk.length;
        if (end < 0) continue;
        file = await this.#rotate(file);
        await file.writeFile(chunk.subarray(end + 1));
        written = chunk.length - end - 1;
      }
    } finally {
      await file.close();
    }
  }

  #open(): Promise<FileHandle> {
    return open(join(this.dir, STDIN_FILE), 'wx', 0o600);
  }

  /** As logrotate does, which followers survive; the part before the last one is dropped. */
  async #rotate(file: FileHandle): Promise<FileHandle> {
    await file.close();
    const path = join(this.dir, STDIN_FILE);
    await rename(path, `${path}.1`);
    return this.#open();
  }
}
