import { lstatSync } from 'node:fs';
import { entryPath } from '../file/find-entry.ts';
import { systemCode } from '../log-error.ts';
import { JobCancelled } from './job-cancelled.ts';
import type { StatJob, StatResult } from './jobs.ts';

/** What an entry is: gone or something else, a file, a link, or not to be looked at. */
export const ENTRY_KINDS = { other: 0, file: 1, link: 2, denied: 3 } as const;

/** Numbers for each entry: dev, ino, size, times of its change, of that of its entry, and of its birth. */
export const STAT_NUMBERS = 6;

const SEPARATOR = 0;

/** Many names as one piece of memory, which is handed over at once. */
export function joinNames(names: readonly Buffer[]): Uint8Array {
  const separator = Buffer.from([SEPARATOR]);
  return Buffer.concat(names.flatMap((name) => [name, separator]));
}

/** Looks at many entries of a directory, with calls that wait: a fifth of what it costs to have each done for itself. */
export function statEntries({ dir, names }: StatJob, isCancelled: () => boolean): StatResult {
  const kinds: number[] = [];
  const numbers: bigint[] = [];
  const bytes = Buffer.from(names.buffer, names.byteOffset, names.length);
  for (let start = 0; start < bytes.length; ) {
    if (isCancelled()) throw new JobCancelled();
    const end = bytes.indexOf(SEPARATOR, start);
    kinds.push(statEntry(entryPath(dir, bytes.subarray(start, end)), numbers));
    start = end + 1;
  }
  return { kinds: Uint8Array.from(kinds), numbers: BigInt64Array.from(numbers) };
}

function statEntry(path: Buffer, numbers: bigint[]): number {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, birthtimeNs, mode } = lstatSync(path, { bigint: true });
    numbers.push(dev, ino, size, mtimeNs, ctimeNs, birthtimeNs);
    return kindOf(mode);
  } catch (error) {
    numbers.push(0n, 0n, 0n, 0n, 0n, 0n);
    return systemCode(error) === 'EACCES' ? ENTRY_KINDS.denied : ENTRY_KINDS.other;
  }
}

function kindOf(mode: bigint): number {
  const format = Number(mode) & FORMAT_BITS;
  if (format === REGULAR) return ENTRY_KINDS.file;
  return format === LINK ? ENTRY_KINDS.link : ENTRY_KINDS.other;
}

const FORMAT_BITS = 0o170000;
const REGULAR = 0o100000;
const LINK = 0o120000;
