import { randomUUID } from 'node:crypto';
import { link, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../log-error.ts';
import { unneeded } from '../shared.ts';

/** A half-written file of a live process id that is older than this was left by an earlier process with the same id. */
const ABANDONED_MS = 3_600_000;

const HALF_WRITTEN = /\.(\d{1,10})-[0-9a-f-]{36}\.tmp$/;

/** Removes what processes that were killed have left half-written in a directory, and below it. */
export async function removeHalfWritten(dir: string): Promise<void> {
  for (const name of (await readdir(dir, { recursive: true }).catch(unlessMissing)) ?? []) {
    const pid = HALF_WRITTEN.exec(name)?.[1];
    if (pid !== undefined && (await isLeftOver(join(dir, name), Number(pid))))
      await rm(join(dir, name), { force: true });
  }
}

/** Whether the process that began to write a file has ended. That of this id is one before: called when it starts. */
export async function isLeftOver(path: string, pid: number): Promise<boolean> {
  const stats = await lstat(path).catch(unlessMissing);
  if (!stats?.isFile()) return false;
  if (pid === process.pid) return stats.mtimeMs < performance.timeOrigin;
  // clock: both are compared with times of the file system
  return !isAlive(pid) || Date.now() - stats.mtimeMs > ABANDONED_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

interface ReplaceOptions {
  /** A file that exists by then stays. */
  keep?: boolean;
  /** On the disk before it gets its name. */
  isSynced?: boolean;
}

/**
 * Writes a file in one step, readable by its owner only: others see all of it or nothing. A crash leaves at most one that
 * ends with the id of the process, a UUID and `.tmp`: see `removeHalfWritten`.
 */
export async function replaceFile(
  path: string,
  content: Uint8Array | string,
  { keep = false, isSynced = false }: ReplaceOptions = {},
): Promise<void> {
  const half = `${path}.${process.pid}-${randomUUID()}.tmp`;
  try {
    const file = await open(half, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.chmod(0o600); // regardless of the umask
      if (isSynced) await file.sync();
    } finally {
      await file.close();
    }
    if (keep) await link(half, path).catch(undefinedIfExists);
    else await rename(half, path);
  } catch (error) {
    await unneeded(rm(half, { force: true })); // the first error is the one to report
    throw error;
  }
  if (keep) await rm(half, { force: true });
}

function unlessMissing(error: unknown): undefined {
  const code = systemCode(error);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

function undefinedIfExists(error: unknown): undefined {
  if (systemCode(error) !== 'EEXIST') throw error;
}
