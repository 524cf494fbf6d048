import { LogError } from '../log-error.ts';

/** Longest name Linux file systems accept. */
const MAX_NAME_BYTES = 255;

/** Rejects every name that could mean anything but an entry directly in the log directory. Does not access the disk. */
export function assertSafeName(name: string): void {
  if (name === '') throw new LogError('FILE_NAME_MISSING', 'the name of a log file is empty');
  const reason = whyUnsafe(name);
  if (reason) throw new LogError('FILE_NAME_INVALID', `not the name of a log file: ${reason}`);
}

function whyUnsafe(name: string): string | undefined {
  if (name === '.' || name === '..') return '"." and ".." are directories';
  if (name.includes('/') || name.includes('\\')) return 'a name holds no "/" and no "\\"';
  if (name.includes('\0')) return 'a name holds no NUL';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `a name has at most ${MAX_NAME_BYTES} bytes`;
  return undefined;
}
