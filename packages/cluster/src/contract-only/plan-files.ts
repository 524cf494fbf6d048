import { LogSources } from '@porthole/contract';
import { groupFamilies, isSafeName } from '@porthole/logs';
import type { FileProblem, LogEntry, LogSelection } from '@porthole/logs/types';

export interface TailLimits {
  /** Per file on the first read. */
  tailBytes: number;
  /** For all files together on the first read. */
  maxTotalBytes: number;
  /** Each file needs a request. */
  maxFiles: number;
  /** What is kept of a file that grows, in two halves: the older one is deleted as a whole. */
  maxFileBytes: number;
}

export interface FilePlan {
  files: LogEntry[];
  /** Files that are not read, with the reason. */
  problems: FileProblem[];
}

/** Names listed with a reason. */
const SHOWN_NAMES = 3;

/** Suffix of the older part of a file that was rotated in the mirror only; sorts before the file, after all rotated ones. */
export const ASIDE = '-20991231';

/** Selects the files to read within the limits: live files first, then rotated ones, newest first. */
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
    if (isMirrored(name) && Number.isSafeInteger(size) && size >= 0) sizes.set(name, size);
    else odd.push(name);
  }
  const compressed: string[] = [];
  const live: string[] = [];
  const logs = new LogSources(selection.src);
  const rotated: string[] = [];
  for (const { name: family, files } of groupFamilies([...sizes.keys()])) {
    // Sorted oldest first.
    for (const file of files.toReversed()) {
      if (!logs.hasFile(file.name, family)) continue;
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
      ...skippedFiles(left, 'exceeds the limit for a node that serves only the ends of its files'),
      ...skippedFiles(compressed, 'compressed, and the node serves only the ends of its files'),
      ...skippedFiles(odd, 'invalid name or size'),
    ],
  };
}

/** One problem for all of them, not a thousand. */
function skippedFiles(names: readonly string[], why: string): FileProblem[] {
  const [file, ...more] = names;
  if (file === undefined) return [];
  const others = more.slice(0, SHOWN_NAMES - 1).map((name) => JSON.stringify(name));
  const rest = names.length - 1 - others.length;
  const also = others.length === 0 ? '' : ` (also ${others.join(', ')}${rest > 0 ? ` and ${rest} more files` : ''})`;
  return [{ file, code: 'NOT_SUPPORTED', detail: `not read${also}: ${why}` }];
}

/** The names are untrusted and become local file names; those that are no text would all become the same one. */
function isMirrored(name: string): boolean {
  return isSafeName(name) && isSafeName(name + ASIDE) && !name.endsWith(ASIDE) && !/\p{Cs}/u.test(name);
}

/** Files of another node as this one shows them: what cannot be asked for by its name, and duplicates, are left out. */
export function safeEntries(entries: readonly LogEntry[], depth = 0): LogEntry[] {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  return [...byName.values()].filter(({ name }) => isSafeName(name, depth));
}
