import { ArchiveError, type ArchiveErrorCode } from '../archive-error.ts';

/** ClickHouse's numbers of errors that call for something else than "it failed". */
const CODES: ReadonlyMap<number, ArchiveErrorCode> = new Map([
  [192, 'ARCHIVE_DENIED'], // unknown user
  [193, 'ARCHIVE_DENIED'], // wrong password
  [194, 'ARCHIVE_DENIED'], // a password is required
  [195, 'ARCHIVE_DENIED'], // the address is not allowed
  [497, 'ARCHIVE_DENIED'], // a grant is missing
  [516, 'ARCHIVE_DENIED'], // authentication failed
  [164, 'ARCHIVE_DENIED'], // the user may only read
  [291, 'ARCHIVE_DENIED'], // the database is not allowed
  [243, 'ARCHIVE_FULL'], // no space
  [76, 'ARCHIVE_FULL'], // a file cannot be opened for writing
  [75, 'ARCHIVE_FULL'], // a file cannot be written
  [16, 'ARCHIVE_SCHEMA'], // no such column
  [47, 'ARCHIVE_SCHEMA'], // unknown identifier
  [60, 'ARCHIVE_SCHEMA'], // unknown table
  [81, 'ARCHIVE_SCHEMA'], // unknown database
  [117, 'ARCHIVE_SCHEMA'], // a field of a row has no column
  [159, 'ARCHIVE_TIMEOUT'],
  [160, 'ARCHIVE_TIMEOUT'], // estimated to be too slow
  [209, 'ARCHIVE_TIMEOUT'], // on a socket
  [201, 'ARCHIVE_BUSY'], // quota
  [202, 'ARCHIVE_BUSY'], // simultaneous queries
  [241, 'ARCHIVE_BUSY'], // memory
  [252, 'ARCHIVE_BUSY'], // parts
  [242, 'ARCHIVE_BUSY'], // the replica is read-only: it has no ZooKeeper
  [319, 'ARCHIVE_BUSY'], // not known whether the insert has reached a quorum
]);

/** What texts of errors are cut to: they may repeat the query, or rows. */
const MAX_DETAIL = 300;

/** The error in the body of a response, or in the middle of one: the status was sent before it happened. */
export function parseServerError(text: string): ArchiveError | undefined {
  const [, number] = /^Code: (\d{1,5})[,.]/.exec(text) ?? [];
  if (number === undefined) return undefined;
  const serverCode = Number(number);
  // Without the dialect of the version around it, and without the stack trace.
  const detail = text
    .replace(/^Code: \d+[,.]\s*(e\.displayText\(\) = )?/, '')
    .replace(/, e\.what\(\) = [\s\S]*$/, '')
    .replace(/\s*Stack trace:[\s\S]*$/, '')
    .replace(/^DB::(Net)?Exception: /, '')
    .trim();
  const code = isFull(detail) ? 'ARCHIVE_FULL' : (CODES.get(serverCode) ?? 'ARCHIVE_FAILED');
  return new ArchiveError(code, `ClickHouse error ${serverCode}: ${shorten(detail)}`, { serverCode });
}

/** Reported by several numbers, some of them of the operating system. */
function isFull(detail: string): boolean {
  return /No space left on device|errno: 28\b|not enough space/i.test(detail);
}

function shorten(detail: string): string {
  return detail.length <= MAX_DETAIL ? detail : `${detail.slice(0, MAX_DETAIL)}…`;
}
