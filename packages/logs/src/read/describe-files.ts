import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { sep } from 'node:path';
import { JobCancelled } from '../cancel-flag.ts';
import { READ_FLAGS } from '../file/open-inside.ts';
import { systemCode } from '../log-error.ts';
import { decodeUtf16, detectUtf16 } from '../packed/utf16.ts';
import { BUILT_IN_FORMATS, type FormatDetector, FormatSet } from '../parse/detect-format.ts';
import { samplePlaces } from '../parse/formats/sample-lines.ts';
import type { UserFormat } from '../parse/user-format.ts';
import type { Zone } from '../parse/zone.ts';
import type { FileSummary } from './file-details.ts';
import { EMPTY_SUMMARY, type EndsSummary, HeadSummary, INSPECTED_BYTES } from './summarize-file.ts';

/** Format and time range of plain files of a directory, read from both ends. */
export interface DescribeJob {
  kind: 'describe';
  dir: string;
  names: readonly string[];
  zone: string;
  /** Formats tried before the built-in ones. */
  formats?: readonly UserFormat[] | undefined;
}

/** Packed, because there may be 100,000; read with `describedAt`. */
export interface DescribeResult {
  /** For each name the index of its format, beyond the last one if it was not described. */
  formats: Uint16Array<ArrayBuffer>;
  formatNames: string[];
  /** For each name the first and the last time, `NaN` if there is none. */
  times: Float64Array<ArrayBuffer>;
}

const NOT_DESCRIBED = 0xffff;

/**
 * Examines both ends of many plain files with synchronous calls: a tenth of the cost of asynchronous calls from the
 * calling thread. What cannot be read this way is not described: a link, a deleted file, or anything but a file.
 */
export function describeFiles(
  { dir, names, formats: userFormats }: DescribeJob,
  { zone, isCancelled }: { zone: Zone; isCancelled(): boolean },
): DescribeResult {
  const buffer = Buffer.allocUnsafe(2 * INSPECTED_BYTES);
  const detector = (userFormats ? new FormatSet(userFormats) : BUILT_IN_FORMATS).detector(zone);
  const formats = new Uint16Array(names.length).fill(NOT_DESCRIBED);
  const formatNames: string[] = [];
  const times = new Float64Array(2 * names.length);
  for (const [index, name] of names.entries()) {
    if (isCancelled()) throw new JobCancelled();
    const summary = describeOne(dir + sep + name, buffer, detector);
    if (!summary) continue;
    if (!formatNames.includes(summary.format)) formatNames.push(summary.format);
    formats[index] = formatNames.indexOf(summary.format);
    times[2 * index] = summary.firstTimeMs ?? Number.NaN;
    times[2 * index + 1] = summary.lastTimeMs ?? Number.NaN;
  }
  return { formats, formatNames, times };
}

/** The summary of one of the files; `undefined` if it must be examined in another way. */
export function describedAt({ formats, formatNames, times }: DescribeResult, index: number): FileSummary | undefined {
  const format = formatNames[formats[index] ?? NOT_DESCRIBED];
  if (!format) return undefined;
  const [firstTimeMs, lastTimeMs] = [timeAt(times, 2 * index), timeAt(times, 2 * index + 1)];
  return { format, firstTimeMs, lastTimeMs, problem: null };
}

function timeAt(times: Float64Array, index: number): number | null {
  const timeMs = times[index] ?? Number.NaN;
  return Number.isNaN(timeMs) ? null : timeMs;
}

function describeOne(path: string, buffer: Buffer, detector: FormatDetector): EndsSummary | undefined {
  let fd: number | undefined;
  try {
    // Links are not followed, and what was opened is verified, as wherever a log is opened.
    fd = openSync(path, READ_FLAGS);
    const stats = fstatSync(fd);
    if (!stats.isFile()) return undefined;
    if (stats.size === 0) return EMPTY_SUMMARY;
    const head = readPart(fd, buffer.subarray(0, Math.min(INSPECTED_BYTES, stats.size)), 0);
    if (head.length === 0) return EMPTY_SUMMARY;
    const encoding = detectUtf16(head);
    const toText = (bytes: Buffer) => (encoding ? decodeUtf16(bytes, encoding) : bytes);
    const file = fd;
    const places = encoding ? [] : samplePlaces(stats.size);
    const parts = places.map(({ start, length }) => readPart(file, Buffer.allocUnsafe(length), start));
    const summary = new HeadSummary(toText(head), parts, { detector, writtenMs: Math.floor(stats.mtimeMs) });
    const isWhole = stats.size <= INSPECTED_BYTES;
    // UTF-16 has two bytes for a character.
    const tailFrom = stats.size - (encoding ? stats.size % 2 : 0) - INSPECTED_BYTES;
    const tail = isWhole ? head : readPart(fd, buffer.subarray(INSPECTED_BYTES), tailFrom);
    return summary.withTail(toText(tail), { isWhole });
  } catch (error) {
    // Examined again in a way that reports the error.
    if (systemCode(error) === undefined) throw error;
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readPart(fd: number, target: Buffer, position: number): Buffer {
  let filled = 0;
  while (filled < target.length) {
    const got = readSync(fd, target, filled, target.length - filled, position + filled);
    if (got === 0) break;
    filled += got;
  }
  return target.subarray(0, filled);
}
