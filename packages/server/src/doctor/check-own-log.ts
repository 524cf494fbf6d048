import { randomUUID } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { types } from 'node:util';
import { hasCode } from '../errors.ts';
import { type CheckContext, type CheckOutcome, ok, problem, warning } from './check-result.ts';
import { findWriters } from './open-files.ts';

const MIB = 1024 ** 2;

/** Less than this fills up within minutes when errors are logged. */
const SCARCE_BYTES = 64 * MIB;

/** Whether the node can write its own log, and whether there is enough space for it. */
export async function checkOwnLog({ settings: { logging }, system }: CheckContext): Promise<CheckOutcome[]> {
  try {
    const existing = await nearestDir(logging.dir);
    await probeWriting(existing);
    const where = existing === logging.dir ? `${logging.dir} is writable` : `${logging.dir} can be created`;
    return [ok(where), checkSpace(await system.freeBytes(existing), logging), ...(await checkWriters(logging.dir))];
  } catch (error) {
    const reason = types.isNativeError(error) && 'code' in error ? error.code : error;
    return [
      problem(
        `${logging.dir} is not writable: ${reason}`,
        `set logging.dir (--logging-dir DIR) to another directory, or: "mkdir -p ${logging.dir} && chown ${system.userName} ${logging.dir}"`,
      ),
    ];
  }
}

/** One writer is the running node; several would interfere with each other's rotation. */
async function checkWriters(dir: string): Promise<CheckOutcome[]> {
  const writers = await findWriters(join(dir, 'porthole.log'));
  if (writers.length < 2) return [];
  const message = `${writers.length} nodes write their own log to ${dir} (processes ${[...new Set(writers)].join(', ')})`;
  return [warning(message, 'give each its own directory with logging.dir (--logging-dir DIR)')];
}

/** The directory itself, or the nearest existing one above it. */
async function nearestDir(dir: string): Promise<string> {
  try {
    if ((await stat(dir)).isDirectory()) return dir;
  } catch (error) {
    if (hasCode(error, 'ENOENT') && dirname(dir) !== dir) return nearestDir(dirname(dir));
    throw error;
  }
  throw Object.assign(new Error(`${dir} is not a directory`), { code: 'ENOTDIR' });
}

/** Permissions do not show read-only file systems, quotas and full disks: only writing does. */
async function probeWriting(dir: string): Promise<void> {
  const path = join(dir, `.porthole-doctor-${randomUUID()}`);
  const handle = await open(path, 'wx');
  try {
    await handle.write('porthole doctor was here');
  } finally {
    await handle.close();
    await rm(path, { force: true });
  }
}

function checkSpace(freeBytes: number, { maxFileBytes, keepFiles }: CheckContext['settings']['logging']): CheckOutcome {
  const neededBytes = maxFileBytes * (keepFiles + 1);
  const free = `${formatMiB(freeBytes)} free`;
  if (freeBytes < Math.min(SCARCE_BYTES, neededBytes))
    return problem(`only ${free} on its disk`, 'free some space, or set logging.dir to another disk');
  if (freeBytes < neededBytes)
    return warning(
      `${free} on its disk, but the node's own log may grow to ${formatMiB(neededBytes)}`,
      'lower logging.max-file-size or logging.keep-files, set logging.gzip, or free some space',
    );
  return ok(`${free} on its disk, at most ${formatMiB(neededBytes)} needed`);
}

function formatMiB(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`;
}
