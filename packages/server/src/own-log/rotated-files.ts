import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { type Owned, owned } from '@porthole/logs/shared';
import { expectCode, hasCode } from '../errors.ts';
import { statIfExists } from './open-log-file.ts';
import { type RotatedName, type RotatedNames, temporaryName } from './rotated-name.ts';

/** Files also expire while nothing is rotated. */
const SWEEP_EVERY_MS = 3_600_000;

/** A temporary file of a live process id that is older than this was left by an earlier process with the same id. */
const TEMPORARY_MAX_AGE_MS = 3_600_000;

interface RotatedFilesOptions {
  readonly dir: string;
  readonly names: RotatedNames;
  readonly gzip: boolean;
  /** How long a file is left alone after its rename: another process may still write to it. */
  readonly gzipDelayMs: number;
  /** 0: no limit. */
  readonly keepFiles: number;
  /** Counted from the rotation. 0: no limit. */
  readonly keepAgeMs: number;
  readonly now: () => number;
  readonly onError: (thrown: unknown) => void;
}

/**
 * Maintains the rotated files in the background: removes expired ones, compresses the rest. Each sweep lists the directory
 * again, so that leftovers of a crash or a failure are handled by the next one.
 */
export class RotatedFiles {
  readonly #options: RotatedFilesOptions;
  #sweeping: Owned | undefined;
  #isSweepWanted = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RotatedFilesOptions) {
    this.#options = options;
  }

  /** Starts a sweep, or schedules another one after the running one. */
  sweep(): void {
    if (this.#isClosed) return;
    this.#isSweepWanted = true;
    this.#sweeping ??= owned(this.#sweepWhileWanted(), this.#options.onError);
  }

  /** Removes temporary files of compressions that a crash interrupted. */
  async removeTemporaries(): Promise<void> {
    const { dir, names } = this.#options;
    for (const name of await listDir(dir)) {
      const pid = names.parseTemporary(name);
      if (pid !== undefined && (await isLeftOver(join(dir, name), pid))) await rm(join(dir, name), { force: true });
    }
  }

  /** Waits for running work. Files that are too young to be compressed are left for the next start. */
  async close(): Promise<void> {
    await this.#sweeping;
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #sweepWhileWanted(): Promise<void> {
    let nextMs = SWEEP_EVERY_MS;
    while (this.#isSweepWanted) {
      this.#isSweepWanted = false;
      try {
        nextMs = await this.#sweepOnce();
      } catch (thrown) {
        this.#options.onError(thrown);
      }
    }
    this.#sweeping = undefined;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.sweep(), nextMs).unref();
  }

  /** Returns the time after which another sweep is useful. */
  async #sweepOnce(): Promise<number> {
    const { dir, names, gzip } = this.#options;
    const found = (await listDir(dir)).map((name) => names.parse(name)).filter((file) => file !== undefined);
    const doomed = this.#chooseDoomed(found);
    for (const { name } of doomed) {
      const path = join(dir, name);
      if ((await statIfExists(path))?.isFile()) await rm(path, { force: true });
    }
    if (!gzip) return SWEEP_EVERY_MS;
    let nextMs = SWEEP_EVERY_MS;
    for (const file of found) {
      if (file.isCompressed || doomed.includes(file)) continue;
      nextMs = Math.min(nextMs, await this.#compress(file.name));
    }
    return nextMs;
  }

  #chooseDoomed(found: readonly RotatedName[]): RotatedName[] {
    const { keepFiles, keepAgeMs, now } = this.#options;
    const newestFirst = [...new Set(found.map(({ plainName }) => plainName))].sort().reverse();
    const tooMany = new Set(keepFiles > 0 ? newestFirst.slice(keepFiles) : []);
    const oldestMs = keepAgeMs > 0 ? now() - keepAgeMs : Number.NEGATIVE_INFINITY;
    return found.filter(({ plainName, rotatedAtMs }) => tooMany.has(plainName) || rotatedAtMs < oldestMs);
  }

  /** A failure affects only this file; it is retried in the next sweep. */
  async #compress(name: string): Promise<number> {
    const { dir, gzipDelayMs, onError } = this.#options;
    const path = join(dir, name);
    try {
      const stats = await statIfExists(path);
      if (!stats?.isFile()) return SWEEP_EVERY_MS;
      // A rename changes ctime, by the system's clock, whatever clock the log uses.
      const restMs = Math.min(stats.ctimeMs + gzipDelayMs - Date.now(), gzipDelayMs);
      if (gzipDelayMs > 0 && restMs > 0) return restMs;
      return (await compressRotated(dir, name)) ? SWEEP_EVERY_MS : gzipDelayMs;
    } catch (thrown) {
      if (!hasCode(thrown, 'ENOENT')) onError(thrown);
      return SWEEP_EVERY_MS;
    }
  }
}

async function listDir(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).sort();
  } catch (thrown) {
    // The live file creates the directory, and reports if it cannot.
    if (hasCode(thrown, 'ENOENT', 'ENOTDIR')) return [];
    throw thrown;
  }
}

async function isLeftOver(path: string, pid: number): Promise<boolean> {
  const stats = await statIfExists(path);
  if (!stats?.isFile()) return false;
  return pid === process.pid || !isAlive(pid) || Date.now() - stats.mtimeMs > TEMPORARY_MAX_AGE_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return hasCode(thrown, 'EPERM');
  }
}

/**
 * Replaces a rotated file by its compressed form. The original is removed only after the compressed file is on disk under
 * its final name, so a crash at any time leaves at least one of them intact.
 * False: the file changed meanwhile and was left alone; try again later.
 */
export async function compressRotated(dir: string, name: string): Promise<boolean> {
  const source = join(dir, name);
  const target = `${source}.gz`;
  if (await statIfExists(target)) {
    // Either a crash happened between the last two steps, or the file is not ours: then both stay.
    if (await holdsSame(source, target)) await rm(source, { force: true });
    return true;
  }
  const temporary = join(dir, temporaryName(`${name}.gz`));
  try {
    const before = await stat(source);
    const bytes = await writeCompressed(source, temporary, before);
    // Another process may have written one more batch, or the name was reserved and the file appeared only now.
    const after = await stat(source);
    if (after.size !== bytes || after.dev !== before.dev || after.ino !== before.ino) return false;
    await rename(temporary, target);
    await syncDir(dir);
    await rm(source, { force: true });
    return true;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns the number of uncompressed bytes. */
async function writeCompressed(source: string, temporary: string, { atime, mtime }: Stats): Promise<number> {
  await using output = await open(temporary, 'wx', 0o640);
  const gzip = createGzip();
  await pipeline(createReadStream(source), gzip, (chunks: AsyncIterable<Buffer>) => writeFile(output, chunks));
  // Readers use the modification time of the file; compression must not change it.
  await output.utimes(atime, mtime);
  await output.sync();
  return gzip.bytesWritten;
}

async function holdsSame(plain: string, compressed: string): Promise<boolean> {
  const inPlain = createHash('sha256');
  const inCompressed = createHash('sha256');
  try {
    await pipeline(createReadStream(plain), inPlain);
    await pipeline(createReadStream(compressed), createGunzip(), inCompressed);
  } catch (thrown) {
    expectCode(thrown);
    return false; // unreadable or damaged: then both files stay, and nothing is lost
  }
  return inPlain.digest('hex') === inCompressed.digest('hex');
}

/** Otherwise a power failure could undo the rename although the original is already removed. */
async function syncDir(dir: string): Promise<void> {
  await using handle = await open(dir, 'r');
  await handle.sync();
}
