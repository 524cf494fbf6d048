import { randomUUID } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { systemCode } from '../log-error.ts';
import { unneeded } from '../shared.ts';

/** A half-written file that is older belongs to a process that has ended. */
const ABANDONED_MS = 3_600_000;

/** Whether nobody writes a half-written file any more: it may be removed. */
export function isAbandoned({ mtimeMs }: { mtimeMs: number }): boolean {
  return Date.now() - mtimeMs > ABANDONED_MS; // clock: compared with times of the file system
}

interface ReplaceOptions {
  /** A file that exists by then stays. */
  keep?: boolean;
  /** On the disk before it gets its name. */
  isSynced?: boolean;
}

/**
 * Writes a file in one step, readable by its owner only: others see all of it or nothing. A crash leaves at most one that
 * ends with a UUID and `.tmp`.
 */
export async function replaceFile(
  path: string,
  content: Uint8Array | string,
  { keep = false, isSynced = false }: ReplaceOptions = {},
): Promise<void> {
  const half = `${path}.${randomUUID()}.tmp`;
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

function undefinedIfExists(error: unknown): undefined {
  if (systemCode(error) !== 'EEXIST') throw error;
}
