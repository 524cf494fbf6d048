import { types } from 'node:util';

export type LogErrorCode =
  | 'FILE_NAME_MISSING'
  | 'FILE_NAME_INVALID'
  | 'LOG_FILE_NOT_FOUND'
  | 'LOG_FILE_CORRUPT'
  | 'LOG_FILE_UNSUPPORTED'
  | 'RAW_HAS_SECRETS'
  | 'LOG_FILE_UNREADABLE'
  | 'LOG_FILE_TRUNCATED'
  | 'LOG_DIR_UNREADABLE'
  | 'LOG_FAMILY_NOT_FOUND'
  | 'REGEX_INVALID'
  | 'REGEX_TOO_COMPLEX'
  | 'CURSOR_INVALID'
  | 'CURSOR_GONE'
  | 'TOO_MANY_SEARCHES'
  | 'JOURNAL_UNAVAILABLE';

/** A failure of the log engine. The message says what happened to which file, and may be shown to the client. */
export class LogError extends Error {
  override readonly name = 'LogError';
  readonly code: LogErrorCode;

  constructor(code: LogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The thread of a job has ended. The same job can be run again in another one. */
export class ThreadLost extends Error {
  override readonly name = 'ThreadLost';
  readonly code = 'THREAD_LOST';

  constructor(cause: unknown) {
    super(cause instanceof Error ? `a scanning thread ended: ${cause.message}` : String(cause), { cause });
  }
}

export function truncated(name: string): LogError {
  return new LogError('LOG_FILE_TRUNCATED', `${JSON.stringify(name)} was truncated while it was being read`);
}

export function unreadable(name: string, cause: unknown): LogError {
  const why = systemCode(cause) ?? 'unknown failure';
  return new LogError('LOG_FILE_UNREADABLE', `${JSON.stringify(name)} cannot be read: ${why}`, { cause });
}

/** The code of a failed system call (`ENOENT`), or `undefined` for any other error. */
export function systemCode(thrown: unknown): string | undefined {
  const code = types.isNativeError(thrown) && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** A failed call to the operating system. Node's own errors (`ERR_INVALID_ARG_TYPE`) have a code, but no errno. */
export function isSystemError(thrown: unknown): boolean {
  return types.isNativeError(thrown) && 'errno' in thrown && typeof thrown.errno === 'number';
}

/** A file or directory that is missing, unreadable or damaged. Anything else is a defect and must not be taken for it. */
export function isFileFailure(thrown: unknown): boolean {
  return thrown instanceof LogError || isSystemError(thrown);
}

/** For `.catch()`: `undefined` for a file that cannot be read; throws anything else. */
export function undefinedIfUnreadable(thrown: unknown): undefined {
  if (!isFileFailure(thrown)) throw thrown;
  return undefined;
}
