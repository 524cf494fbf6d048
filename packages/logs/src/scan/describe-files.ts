import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { READ_FLAGS } from '../file/open-inside.ts';
import type { Zone } from '../parse/zone.ts';
import { type EndsLook, HeadLook, LOOK_BYTES, NOTHING_SEEN } from '../read/look-at-ends.ts';
import { JobCancelled } from './job-cancelled.ts';
import type { DescribeJob, DescribeResult } from './jobs.ts';

/**
 * Looks at both ends of many plain files, with calls that wait: a tenth of what it costs to have each of them done one after
 * the other from the calling thread. Gives `null` for what cannot be read so: a link, a file that is gone or is none.
 */
export function describeFiles(
  { dir, names }: DescribeJob,
  { zone, isCancelled }: { zone: Zone; isCancelled(): boolean },
): DescribeResult {
  const buffer = Buffer.allocUnsafe(2 * LOOK_BYTES);
  return names.map((name) => {
    if (isCancelled()) throw new JobCancelled();
    return describeOne(join(dir, name), buffer, zone);
  });
}

function describeOne(path: string, buffer: Buffer, zone: Zone): EndsLook | null {
  let fd: number | undefined;
  try {
    // A link is not followed, and what was opened is examined, as wherever a log is opened.
    fd = openSync(path, READ_FLAGS);
    const stats = fstatSync(fd);
    if (!stats.isFile()) return null;
    if (stats.size === 0) return NOTHING_SEEN;
    const head = readPart(fd, buffer.subarray(0, Math.min(LOOK_BYTES, stats.size)), 0);
    if (head.length === 0) return NOTHING_SEEN;
    const look = new HeadLook(head, { zone, writtenMs: Math.floor(stats.mtimeMs) });
    const isWhole = stats.size <= LOOK_BYTES;
    const tail = isWhole ? head : readPart(fd, buffer.subarray(LOOK_BYTES), stats.size - LOOK_BYTES);
    return look.withTail(tail, { isWhole });
  } catch {
    return null; // looked at again, in a way that says what is wrong
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readPart(fd: number, target: Buffer, position: number): Buffer {
  let filled = 0;
  while (filled < target.length) {
    const got = readSync(fd, target, filled, target.length - filled, position + filled);
    if (got === 0) break;
    filled += got;
  }
  return target.subarray(0, filled);
}
