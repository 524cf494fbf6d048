import { type BigIntStats, lstatSync } from 'node:fs';
import { JobCancelled } from '../cancel-flag.ts';
import { rawPath } from '../file/open-inside.ts';
import { isSystemError, systemCode } from '../log-error.ts';

/** Types and stats of directory entries. */
export interface StatJob {
  kind: 'stat';
  dir: string;
  /** Raw, as returned by `readNames`. */
  names: readonly string[];
}

export interface StatResult {
  /** One of `ENTRY_KINDS` for each name. */
  kinds: Uint8Array<ArrayBuffer>;
  /** `STAT_NUMBERS` for each name. */
  numbers: BigInt64Array<ArrayBuffer>;
}

/** Kind of an entry: missing or something else, a file, a link, or access denied. */
export const ENTRY_KINDS = { other: 0, file: 1, link: 2, denied: 3 } as const;

/** Numbers for each entry: dev, ino, size, mtime, ctime and birth time. */
export const STAT_NUMBERS = 6;

/** Stats many entries of a directory with synchronous calls: a fifth of the cost of asynchronous ones. */
export function statEntries({ dir, names }: StatJob, isCancelled: () => boolean): StatResult {
  const kinds = new Uint8Array(names.length);
  const numbers = new BigInt64Array(names.length * STAT_NUMBERS);
  for (const [index, name] of names.entries()) {
    if (isCancelled()) throw new JobCancelled();
    const found = statEntry(rawPath(dir, name));
    if (typeof found === 'number') {
      kinds[index] = found;
      continue;
    }
    kinds[index] = entryKind(found.mode);
    const first = index * STAT_NUMBERS;
    numbers[first] = found.dev;
    numbers[first + 1] = found.ino;
    numbers[first + 2] = found.size;
    numbers[first + 3] = found.mtimeNs;
    numbers[first + 4] = found.ctimeNs;
    numbers[first + 5] = found.birthtimeNs;
  }
  return { kinds, numbers };
}

function statEntry(path: string | Buffer): BigIntStats | number {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? ENTRY_KINDS.other;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return systemCode(error) === 'EACCES' ? ENTRY_KINDS.denied : ENTRY_KINDS.other;
  }
}

function entryKind(mode: bigint): number {
  const format = Number(mode) & FORMAT_BITS;
  if (format === REGULAR) return ENTRY_KINDS.file;
  return format === LINK ? ENTRY_KINDS.link : ENTRY_KINDS.other;
}

const FORMAT_BITS = 0o170000;
const REGULAR = 0o100000;
const LINK = 0o120000;
