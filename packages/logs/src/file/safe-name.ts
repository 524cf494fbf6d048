import { LogError } from '../log-error.ts';

/** Longest name Linux file systems accept. */
const MAX_NAME_BYTES = 255;

/** Rejects every name that could mean anything but an entry directly in the log directory. Does not access the disk. */
export function assertSafeName(name: string): void {
  if (name === '') throw new LogError('FILE_NAME_MISSING', 'the file name is empty');
  const reason = whyUnsafe(name);
  if (reason) throw new LogError('FILE_NAME_INVALID', `invalid file name: ${reason}`);
}

function whyUnsafe(name: string): string | undefined {
  if (name === '.' || name === '..') return '"." and ".." are directories';
  if (name.includes('/') || name.includes('\\')) return 'it must not contain "/" or "\\"';
  if (name.includes('\0')) return 'it must not contain NUL';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `it is longer than ${MAX_NAME_BYTES} bytes`;
  return undefined;
}
