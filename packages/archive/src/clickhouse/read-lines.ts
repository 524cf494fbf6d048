import { ArchiveError } from '../archive-error.ts';
import { parseServerError } from './server-error.ts';

const NEWLINE = 0x0a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** No row is longer: a record has at most 64 KiB, and escaped twice at most a few hundred. */
const MAX_LINE_BYTES = 8 * 1024 ** 2;

/**
 * Splits a response into buffers of whole rows. What is not a row is an error: once rows have been sent, the server can
 * only report it behind them, perhaps in the middle of one.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer = Buffer.alloc(0);
  let left = maxBytes;
  for await (const chunk of chunks) {
    left -= chunk.length;
    if (left < 0)
      throw new ArchiveError('ARCHIVE_FAILED', `the response has more than ${maxBytes} bytes: narrow the query`);
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    held = bytes.subarray(end);
    if (held.length > MAX_LINE_BYTES)
      throw new ArchiveError('ARCHIVE_FAILED', 'the response has a row that is too long');
    if (end === 0) continue;
    const rows = rowsEnd(bytes, end);
    if (rows > 0) yield bytes.subarray(0, rows);
    if (rows < end) throw serverError(bytes.subarray(rows).toString());
  }
  if (held.length > 0) throw serverError(held.toString());
}

/** The end of the rows at the start of some lines. */
function rowsEnd(bytes: Buffer, end: number): number {
  for (let start = 0; start < end; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    if (bytes[start] !== OPEN_BRACE || bytes[newline - 1] !== CLOSE_BRACE) return start;
    start = newline + 1;
  }
  return end;
}

function serverError(text: string): ArchiveError {
  const at = text.search(/Code: \d{1,5}[,.] /);
  const found = at < 0 ? undefined : parseServerError(text.slice(at));
  return found ?? new ArchiveError('ARCHIVE_FAILED', 'the response ends in the middle of a row');
}
