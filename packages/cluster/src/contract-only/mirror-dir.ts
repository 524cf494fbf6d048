import { appendFile, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LogDir, type Scrubbing, type UserFormat, type WorkerPool } from '@porthole/logs';
import { ONCE, Shared } from '@porthole/logs/shared';
import type { ZoneInUse } from './member-zone.ts';
import { ASIDE } from './plan-files.ts';
import { createTailsDir } from './tails-dir.ts';

const NEWLINE = 10;

/** Copy buffer size. */
const COPY_BYTES = 1024 ** 2;

interface MirrorDirOptions {
  zone: ZoneInUse;
  /** Formats tried before the built-in ones. */
  formats?: readonly UserFormat[] | undefined;
  /** Scanner threads, shared with other directories. */
  threads: WorkerPool;
  scrubbing: Scrubbing;
}

/**
 * A directory with the newest part of each file of a node, written like a logger would, so that the engine reads and follows
 * it like any log directory. In the system's temporary directory, private to this user; removed when it is retired and
 * unused.
 */
export class MirrorDir {
  readonly logs: LogDir;
  /** In which its times are read. */
  zone: ZoneInUse;
  readonly #path: string;
  readonly #staging: string;
  #staged = 0;
  #users = 0;
  #isRetired = false;
  readonly #closing = new Shared<void>(ONCE);

  private constructor(path: string, { zone, formats = [], threads, scrubbing }: MirrorDirOptions) {
    this.#path = join(path, 'logs');
    this.#staging = path;
    this.zone = zone;
    this.logs = new LogDir(this.#path, { zone: zone.zone, formats, threads, scrubbing });
  }

  static async create(options: MirrorDirOptions): Promise<MirrorDir> {
    const path = await createTailsDir();
    await mkdir(join(path, 'logs'), { mode: 0o700 });
    return new MirrorDir(path, options);
  }

  get isUsed(): boolean {
    return this.#users > 0;
  }

  /** Keeps it until the returned function is called. */
  use(): () => void {
    this.#users++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#users--;
      if (this.#isRetired && this.#users === 0) void this.close();
    };
  }

  /** No new users come; it is closed with the last one. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    if (this.#users === 0) await this.close();
  }

  close(): Promise<void> {
    return this.#closing.run(() => this.#close());
  }

  async append(name: string, bytes: Buffer): Promise<void> {
    await appendFile(this.#at(name), bytes);
  }

  /** The name leads to another file afterwards, as behind a rotation. */
  async put(name: string, bytes: Buffer): Promise<void> {
    const staged = join(this.#staging, String(this.#staged++));
    await writeFile(staged, bytes);
    await rename(staged, this.#at(name));
  }

  /** As a rotation does: `put` of the old name comes next. */
  async move(from: string, to: string): Promise<void> {
    await rename(this.#at(from), this.#at(to));
  }

  async remove(name: string): Promise<void> {
    await rm(this.#at(name), { force: true });
    await rm(this.#at(name + ASIDE), { force: true });
  }

  /** Begins the file anew and keeps what was there for those who have not read it yet. */
  async moveAside(name: string): Promise<void> {
    await this.move(name, name + ASIDE);
    await this.put(name, Buffer.alloc(0));
  }

  /** Copies the end of a file into another directory, from the start of a line. Returns the number of bytes. */
  async copyTo(other: MirrorDir, { name, maxBytes }: { name: string; maxBytes: number }): Promise<number> {
    const file = await open(this.#at(name));
    try {
      const { size } = await file.stat();
      // One byte more: if it is a newline, the next byte starts a line.
      let at = Math.max(0, size - maxBytes - 1);
      let isInLine = at > 0;
      let copied = 0;
      await other.put(name, Buffer.alloc(0));
      while (at < size) {
        const chunk = Buffer.allocUnsafe(Math.min(COPY_BYTES, size - at));
        const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
        if (bytesRead === 0) break;
        at += bytesRead;
        let bytes = chunk.subarray(0, bytesRead);
        if (isInLine) {
          const newline = bytes.indexOf(NEWLINE);
          if (newline < 0) continue;
          bytes = bytes.subarray(newline + 1);
          isInLine = false;
        }
        copied += bytes.length;
        await other.append(name, bytes);
      }
      return copied;
    } finally {
      await file.close();
    }
  }

  #at(name: string): string {
    return join(this.#path, name);
  }

  async #close(): Promise<void> {
    this.#isRetired = true;
    await this.logs.close();
    await rm(this.#staging, { recursive: true, force: true });
  }
}

/** The name on the node of a file of the directory. */
export function nameOnNode(file: string): string {
  return file.endsWith(ASIDE) ? file.slice(0, -ASIDE.length) : file;
}

/** Bytes of a file in a directory. */
interface HeldFile {
  name: string;
  heldBytes: number;
}

/** The directories with the tails of one node: the newest is for new requests, older ones still have followers. */
export class MirrorDirs {
  #options: MirrorDirOptions;
  #dirs: MirrorDir[] = [];

  constructor(options: MirrorDirOptions) {
    this.#options = options;
  }

  /** The newest, in use until released. Only after `prepare`. */
  use(): { dir: MirrorDir; release: () => void } {
    const dir = this.#dirs.at(-1);
    if (dir === undefined) throw new Error('the mirror is used before its first refresh');
    return { dir, release: dir.use() };
  }

  /** Creates the first directory and removes unused ones. */
  async prepare(): Promise<void> {
    const newest = this.#dirs.at(-1) ?? (await MirrorDir.create(this.#options));
    this.#dirs = [...this.#dirs.filter((dir) => dir !== newest && dir.isUsed), newest];
  }

  /** Applies to all directories: each may have followers. */
  async write(act: (dir: MirrorDir) => Promise<void>): Promise<void> {
    for (const dir of this.#dirs) await act(dir);
  }

  /**
   * Copies the newest part of each file into a new directory for new requests. Followers stay in the old one. Returns the
   * number of bytes copied, by name.
   */
  async cut(files: readonly HeldFile[], maxBytes: number): Promise<ReadonlyMap<string, number>> {
    const before = this.#dirs.at(-1);
    const next = await MirrorDir.create(this.#options);
    const copied = new Map<string, number>();
    try {
      for (const { name, heldBytes } of files) {
        copied.set(name, (await before?.copyTo(next, { name, maxBytes })) ?? 0);
        if (heldBytes > maxBytes) await this.write((dir) => dir.moveAside(name));
      }
    } catch (error) {
      await next.close();
      throw error;
    }
    await before?.retire();
    this.#dirs = [...this.#dirs.filter((dir) => dir.isUsed), next];
    return copied;
  }

  /**
   * Times are read in this zone from now on. If it is another one, new requests get a copy; returns whether that is so, and
   * the old one has the wrong times.
   */
  async setZone(zone: ZoneInUse, files: readonly HeldFile[]): Promise<boolean> {
    const isSame = zone.zone.id === this.#options.zone.zone.id;
    this.#options = { ...this.#options, zone };
    const newest = this.#dirs.at(-1);
    if (isSame) {
      if (newest) newest.zone = zone;
      return false;
    }
    await this.cut(files, Number.POSITIVE_INFINITY);
    return true;
  }

  async close(): Promise<void> {
    await Promise.all(this.#dirs.map((dir) => dir.close()));
    this.#dirs = [];
  }
}
