import { LogError } from '../log-error.ts';

/** Shown as the format of a UTF-16 file. */
export const UTF16_FORMAT = 'utf-16';

/**
 * Whether a file starts with the byte order mark of UTF-16, as SQL Server writes it. Everything here works on bytes, in
 * which a UTF-16 file has neither lines nor times.
 */
export function isUtf16(start: Uint8Array): boolean {
  return (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff);
}

/** Throws for a file with this start whose records would be garbage. */
export function refuseUtf16(name: string, start: Uint8Array): void {
  if (isUtf16(start)) throw new LogError('LOG_FILE_UNSUPPORTED', utf16Problem(name));
}

export function utf16Problem(name: string): string {
  return `${JSON.stringify(name)} is encoded in UTF-16, which is not read; convert it with "iconv -f UTF-16 -t UTF-8"`;
}
