import { groupFamilies } from '@porthole/logs';
import type { FileProblem, LogEntry, LogSelection } from '@porthole/logs/types';

export interface TailLimits {
  /** Of each file, when it is first read. */
  tailBytes: number;
  /** Of all files together, when they are first read. */
  maxTotalBytes: number;
  /** Each costs a request. */
  maxFiles: number;
  /** A copy that grew to so much is cut to half of it: enough for what a person looks back at. */
  maxFileBytes: number;
}

export interface FilePlan {
  files: LogEntry[];
  /** What is not read, and why. */
  problems: FileProblem[];
}

/** Names listed beside a reason for the rest. */
const SHOWN_NAMES = 3;

/** The longest name of a file. */
const MAX_NAME_BYTES = 255;

/** Which files are read: those being written first, then rotated ones, newest first, as far as the limits allow. */
export function planFiles(
  entries: readonly LogEntry[],
  {
    tailBytes,
    maxTotalBytes,
    maxFiles,
    selection = {},
  }: Omit<TailLimits, 'maxFileBytes'> & { selection?: LogSelection },
): FilePlan {
  const sizes = new Map<string, number>();
  const odd: string[] = [];
  for (const { name, size } of entries) {
    if (isFileName(name) && Number.isSafeInteger(size) && size >= 0) sizes.set(name, size);
    else odd.push(name);
  }
  const compressed: string[] = [];
  const live: string[] = [];
  const rotated: string[] = [];
  for (const { name: family, files } of groupFamilies([...sizes.keys()])) {
    // Oldest first there.
    for (const file of files.toReversed()) {
      if (selection.file !== undefined && selection.file !== file.name) continue;
      if (selection.family !== undefined && selection.family !== family) continue;
      if (file.compressed) compressed.push(file.name);
      else (file.state === 'live' ? live : rotated).push(file.name);
    }
  }
  const files: LogEntry[] = [];
  const left: string[] = [];
  let bytes = 0;
  for (const name of [...live, ...rotated]) {
    const size = sizes.get(name) ?? 0;
    bytes += Math.min(size, tailBytes);
    if (files.length < maxFiles && bytes <= maxTotalBytes) files.push({ name, size });
    else left.push(name);
  }
  return {
    files,
    problems: [
      ...skippedFiles(left, 'beyond what is fetched from a node that serves only the ends of its files'),
      ...skippedFiles(compressed, 'compressed, and the node serves only the ends of its files'),
      ...skippedFiles(odd, 'not the name and size of a log file'),
    ],
  };
}

/** One line for all: a directory of a thousand files is not a thousand lines. */
function skippedFiles(names: readonly string[], why: string): FileProblem[] {
  const [file, ...more] = names;
  if (file === undefined) return [];
  const others = more.slice(0, SHOWN_NAMES - 1).map((name) => JSON.stringify(name));
  const rest = names.length - 1 - others.length;
  const also = others.length === 0 ? '' : ` (also ${others.join(', ')}${rest > 0 ? ` and ${rest} more files` : ''})`;
  return [{ file, code: 'NOT_SUPPORTED', detail: `not read${also}: ${why}` }];
}

/** The names come from outside and become names here. */
function isFileName(name: string): boolean {
  return (
    name !== '' &&
    name !== '.' &&
    name !== '..' &&
    !/[/\\\0]/.test(name) &&
    Buffer.byteLength(name) <= MAX_NAME_BYTES - 8
  );
}
