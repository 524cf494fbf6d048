import type { BigIntStats } from 'node:fs';
import fs from 'node:fs';
import { statfs } from 'node:fs/promises';
import { systemCode } from '../log-error.ts';

/** Another file system may be mounted in the place of the directory. */
const CHECKED_MS = 10_000;

/**
 * Stats of the entries of one directory. Those of a local file system may be read on this thread: a call takes 2 us, and 10
 * to 20 through a thread of the pool, most of the time of a short listing. On any other file system a call may take long,
 * or hang: there, and until the file system is known, they are left to the pool.
 */
export class EntryStats {
  readonly #dir: string;
  #isLocal = false;
  #checkedMs = Number.NEGATIVE_INFINITY;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Whether `statNow` may be used now. */
  get isLocal(): boolean {
    if (performance.now() - this.#checkedMs > CHECKED_MS) void this.check();
    return this.#isLocal;
  }

  /** Stats of the entry itself: links are not followed. */
  statNow(path: string | Buffer): BigIntStats {
    return fs.lstatSync(path, { bigint: true });
  }

  /** Determines the file system of the directory. A directory that is not there is not local, for the time being. */
  async check(): Promise<void> {
    this.#checkedMs = performance.now();
    try {
      this.#isLocal = LOCAL_FILE_SYSTEMS.has((await statfs(this.#dir)).type);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      this.#isLocal = false;
    }
  }
}

/**
 * Types of file systems on disks of this machine or in its memory, as statfs(2) returns them: ext2 to ext4, XFS, Btrfs,
 * tmpfs, overlayfs, ZFS and F2FS. Every new, renamed or deleted entry changes the time of its directory, and a call
 * returns at once or when the disk does. Others, of a network or of a program, may report any time, and may hang.
 */
export const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010,
]);
