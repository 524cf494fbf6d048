import { randomUUID } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { chmod, link, open, rename, rm } from 'node:fs/promises';
import { closeFd, openFd, statFd } from '../file/fs-calls.ts';
import { systemCode } from '../log-error.ts';

const OTHERS = 0o077n;

export function isOwn({ uid }: BigIntStats): boolean {
  return process.geteuid === undefined || uid === BigInt(process.geteuid());
}

export function isOpenToOthers({ mode }: BigIntStats): boolean {
  return (mode & OTHERS) !== 0n;
}

/** A descriptor of the file, if it is a regular one of this user, and not a link. Others lose their access to it. */
export async function openOwn(path: string, flags: number): Promise<number | 'missing' | 'refused'> {
  let fd: number;
  try {
    fd = await openFd(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT') return 'missing';
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'EISDIR') return 'refused';
    throw error;
  }
  try {
    const stats = await statFd(fd);
    if (stats.isFile() && isOwn(stats)) {
      if (isOpenToOthers(stats)) await chmod(path, 0o600);
      return fd;
    }
  } catch (error) {
    await closeFd(fd);
    throw error;
  }
  await closeFd(fd);
  return 'refused';
}

/** Writes a file in one step: others see all of it or nothing. With `keep`, one that exists by then stays. */
export async function writeWhole(path: string, bytes: Uint8Array, { keep = false } = {}): Promise<void> {
  const half = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(half, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
    } finally {
      await file.close();
    }
    if (keep) await link(half, path).catch(undefinedIfExists);
    else await rename(half, path);
  } catch (error) {
    await rm(half, { force: true }).catch(() => {}); // the first error is the one to report
    throw error;
  }
  if (keep) await rm(half, { force: true });
}

export function undefinedIfMissing(error: unknown): undefined {
  if (systemCode(error) !== 'ENOENT') throw error;
}

function undefinedIfExists(error: unknown): undefined {
  if (systemCode(error) !== 'EEXIST') throw error;
}
