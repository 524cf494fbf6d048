import { LogError } from '../log-error.ts';

/** Longest name Linux file systems accept. */
const MAX_NAME_BYTES = 255;

/**
 * Rejects every name that could mean anything but an entry of the log directory, or of a directory up to `depth` levels
 * below it. Does not access the disk.
 */
export function assertSafeName(name: string, depth = 0): void {
  if (name === '') throw new LogError('FILE_NAME_MISSING', 'the file name is empty');
  const reason = whyRejected(name, depth);
  if (reason) throw new LogError('FILE_NAME_INVALID', `invalid file name: ${reason}`);
}

/** Whether `assertSafeName` accepts this name. */
export function isSafeName(name: string, depth = 0): boolean {
  return whyRejected(name, depth) === undefined;
}

function whyRejected(name: string, depth: number): string | undefined {
  const parts = depth > 0 ? name.split('/') : [name];
  return parts.map(whyUnsafe).find((found) => found !== undefined) ?? whyTooDeep(parts, depth);
}

function whyTooDeep(parts: readonly string[], depth: number): string | undefined {
  return parts.length - 1 > depth ? `it is more than ${depth} directories deep (log.recursive-depth)` : undefined;
}

function whyUnsafe(name: string): string | undefined {
  if (name === '') return 'a directory in it has no name';
  if (name === '.' || name === '..') return '"." and ".." are directories';
  if (name.includes('/') || name.includes('\\')) return 'it must not contain "/" or "\\"';
  if (name.includes('\0')) return 'it must not contain NUL';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `it is longer than ${MAX_NAME_BYTES} bytes`;
  return undefined;
}
