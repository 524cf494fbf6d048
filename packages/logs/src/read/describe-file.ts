import { gunzipRange } from '../file/gunzip.ts';
import { type RangeSource, readRange } from '../file/read-range.ts';
import { isGzipName } from '../file/text-source.ts';
import { detectFormat } from '../parse/detect-format.ts';
import type { Format, LineHead } from '../parse/format.ts';
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
  if (head.length === 0) return { format: 'empty', firstTimeMs: null, lastTimeMs: null };
  const format = detectFormat(head, { zone, writtenMs: Number(handle.modifiedNs / 1_000_000n) });
  const isText = format.name !== 'text' || !head.includes(0);
  return {
    format: isText ? format.name : 'binary',
    firstTimeMs: firstTime(format, head, linesOf(head)),
    lastTimeMs: compressed ? null : await findLastTime(file, format, options),
  };
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}

type Lines = Iterable<{ start: number; end: number }>;

function firstTime(format: Format, bytes: Buffer, lines: Lines): number | null {
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  for (const { start, end } of lines) {
    if (format.readHead(bytes, start, end, head) && !Number.isNaN(head.timeMs)) return head.timeMs;
  }
  return null;
}

async function findLastTime(file: RangeSource, format: Format, options: ReadOptions): Promise<number | null> {
  const { sizeBytes } = file.handle;
  const from = Math.max(0, sizeBytes - LOOK_BYTES);
  const tail = await collect(readRange(file, from, sizeBytes, options));
  // What stands first in a part of the file is hardly the start of a line.
  const lines = from > 0 ? [...linesOf(tail)].slice(1) : [...linesOf(tail)];
  return firstTime(format, tail, lines.reverse());
}

function* linesOf(bytes: Buffer): Generator<{ start: number; end: number }> {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    yield { start, end };
    start = end;
  }
}
