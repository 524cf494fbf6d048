import { SinkError } from './sink-error.ts';

export const ARCHIVE_ERROR_CODES = [
  /** No connection, or it was lost. */
  'ARCHIVE_UNREACHABLE',
  /** Unknown user, wrong password, a missing grant, or a certificate that is not trusted. */
  'ARCHIVE_DENIED',
  /** Its disk is full, or it refuses to write. */
  'ARCHIVE_FULL',
  /** Its tables are missing, older or newer than this version needs. */
  'ARCHIVE_SCHEMA',
  /** It has too much to do: too many queries, parts or memory in use. */
  'ARCHIVE_BUSY',
  /** It took longer than the deadline. */
  'ARCHIVE_TIMEOUT',
  /** Anything else it refuses. */
  'ARCHIVE_FAILED',
] as const;

export type ArchiveErrorCode = (typeof ARCHIVE_ERROR_CODES)[number];

/** A failure of the archive, or on the way to it. */
export class ArchiveError extends SinkError<ArchiveErrorCode> {
  override readonly name = 'ArchiveError';
  /** ClickHouse's own number of the error, if it responded. */
  readonly serverCode: number | undefined;

  constructor(code: ArchiveErrorCode, message: string, options: { cause?: unknown; serverCode?: number } = {}) {
    super(code, message, options);
    this.serverCode = options.serverCode;
  }
}
