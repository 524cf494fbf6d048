import { gunzipRange } from '../file/gunzip.ts';
import { type RangeSource, readRange } from '../file/read-range.ts';
import { isGzipName } from '../file/text-source.ts';
import { findColumns } from '../parse/record-columns.ts';
import { parseTimestamp } from '../parse/timestamp.ts';
import type { Zone } from '../parse/zone.ts';
import type { LogFileDetails, ReadOptions } from '../types.ts';

/** Looked at from each end: enough for a stack trace before the first timestamp, little enough for a directory of files. */
const LOOK_BYTES = 64 * 1024;

type Look = Pick<LogFileDetails, 'format' | 'firstTimeMs' | 'lastTimeMs'>;

/** What the two ends of a file tell. Releases nothing. */
export async function describeFile(file: RangeSource, zone: Zone, options: ReadOptions): Promise<Look> {
  const { handle } = file;
  if (handle.sizeBytes === 0) return { format: 'empty', firstTimeMs: null, lastTimeMs: null };
  const compressed = isGzipName(handle.name);
  const head = compressed
    ? await collect(gunzipRange(file, 0, LOOK_BYTES, options))
    : await collect(readRange(file, 0, Math.min(LOOK_BYTES, handle.sizeBytes), options));
  const lastTimeMs = compressed ? null : await findLastTime(file, zone, options);
  return { format: formatOf(head), firstTimeMs: firstTime(head, zone), lastTimeMs };
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}

/** By the first line that has a time; where none has, NUL bytes mean it is no text. */
function formatOf(head: Buffer): LogFileDetails['format'] {
  if (head.length === 0) return 'empty';
  for (const { start, end } of linesOf(head)) {
    const { localMs, level } = findColumns(head, start, end);
    if (localMs !== undefined) return level ? 'contract' : 'text';
  }
  return head.includes(0) ? 'binary' : 'text';
}

function firstTime(head: Buffer, zone: Zone): number | null {
  for (const { start, end } of linesOf(head)) {
    const time = parseTimestamp(head, start, end);
    if (time) return zone.toEpochMs(time.localMs);
  }
  return null;
}

async function findLastTime(file: RangeSource, zone: Zone, options: ReadOptions): Promise<number | null> {
  const { sizeBytes } = file.handle;
  const from = Math.max(0, sizeBytes - LOOK_BYTES);
  const tail = await collect(readRange(file, from, sizeBytes, options));
  // What stands first in a part of the file is hardly the start of a line.
  const lines = from > 0 ? [...linesOf(tail)].slice(1) : [...linesOf(tail)];
  for (const { start, end } of lines.reverse()) {
    const time = parseTimestamp(tail, start, end);
    if (time) return zone.toEpochMs(time.localMs);
  }
  return null;
}

function* linesOf(bytes: Buffer): Generator<{ start: number; end: number }> {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    yield { start, end };
    start = end;
  }
}
