import { isPackedName, refuseUndecoded } from '../file/compression.ts';
import type { HandleCache } from '../file/handle-cache.ts';
import { type RangeSource, readRange } from '../file/read-range.ts';
import type { SharedReads } from '../file/shared-reads.ts';
import { unpackRange } from '../file/unpack.ts';
import { LogError } from '../log-error.ts';
import { decodeUtf16, detectUtf16 } from '../packed/utf16.ts';
import { type FormatDetector, FormatSet } from '../parse/detect-format.ts';
import type { Format, LineHead } from '../parse/format.ts';
import { joinSamples, SAMPLED_START_BYTES, samplePlaces } from '../parse/formats/sample-lines.ts';
import type { UserFormat } from '../parse/user-format.ts';
import type { Zone } from '../parse/zone.ts';
import type { LearnedFormat, LogFileDetails, ReadOptions } from '../types.ts';
import type { FileSummary } from './file-details.ts';

interface SummaryDeps {
  handles: HandleCache;
  reads: SharedReads;
  zone: Zone;
  formats: readonly UserFormat[] | undefined;
}

/** Format and times of a file; of one that cannot be read, why. */
export async function summarizeFile(name: string, { handles, reads, ...parsing }: SummaryDeps): Promise<FileSummary> {
  try {
    const handle = await handles.acquire(name);
    try {
      return { ...(await describeFile({ handle, reads }, parsing, {})), problem: null };
    } finally {
      handle.release();
    }
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    return { format: 'unreadable', firstTimeMs: null, lastTimeMs: null, problem: error.message };
  }
}

/** What the lines of a file are read as. */
export async function learnFile(name: string, { handles, reads, zone, formats }: SummaryDeps): Promise<LearnedFormat> {
  const handle = await handles.acquire(name);
  try {
    const { head, parts } = await readEnds({ handle, reads }, {});
    const sample = joinSamples(head, parts);
    const writtenMs = Number(handle.modifiedNs / 1_000_000n);
    const set = new FormatSet(formats);
    const format = set.detect(sample, { zone, writtenMs });
    if (head.length === 0) return nothingLearned('empty: the format is learned from the first lines');
    if (format.name === 'text' && head.includes(0)) return nothingLearned('binary: not text');
    // Loaded on demand: few ask for it.
    const { describeFormat } = await import('../parse/describe-format.ts');
    return describeFormat(format, sample, { zone, writtenMs, formats: set, file: name });
  } finally {
    handle.release();
  }
}

function nothingLearned(text: string): LearnedFormat {
  return { facts: [{ label: 'Format', text, doubt: true }], samples: [], unfit: [], example: '' };
}

/** Format and time range of a file, read from both ends. Does not release the file. */
async function describeFile(
  file: RangeSource,
  { zone, formats }: { zone: Zone; formats?: readonly UserFormat[] | undefined },
  options: ReadOptions,
): Promise<EndsSummary> {
  const { handle } = file;
  const { head, parts, tail } = await readEnds(file, options);
  if (head.length === 0) return EMPTY_SUMMARY;
  const summary = new HeadSummary(head, parts, {
    detector: new FormatSet(formats).detector(zone),
    writtenMs: Number(handle.modifiedNs / 1_000_000n),
  });
  if (!tail) return summary.withoutTail();
  return summary.withTail(tail, { isWhole: handle.sizeBytes - (handle.sizeBytes % 2) <= INSPECTED_BYTES });
}

interface FileEnds {
  head: Buffer;
  /** Samples of the rest of the text. */
  parts: Buffer[];
  tail: Buffer | undefined;
}

/** The start and the end of a file's text. A compressed file has no `tail`: all of it would have to be decompressed. */
async function readEnds(file: RangeSource, options: ReadOptions): Promise<FileEnds> {
  const { handle } = file;
  if (handle.sizeBytes === 0) return { head: Buffer.alloc(0), parts: [], tail: undefined };
  refuseUndecoded(handle);
  const compressed = isPackedName(handle.name);
  const bytes = compressed
    ? await collect(unpackRange(file, 0, INSPECTED_BYTES, options))
    : await collect(readRange(file, 0, Math.min(INSPECTED_BYTES, handle.sizeBytes), options));
  const encoding = detectUtf16(bytes);
  const head = encoding ? decodeUtf16(bytes, encoding) : bytes;
  const parts: Buffer[] = [];
  const places = compressed || encoding ? [] : samplePlaces(handle.sizeBytes);
  for (const { start, end } of places) parts.push(await collect(readRange(file, start, end, options)));
  if (compressed || head.length === 0) return { head, parts, tail: undefined };
  // UTF-16 has two bytes for a character.
  const from = Math.max(0, handle.sizeBytes - (handle.sizeBytes % 2) - INSPECTED_BYTES);
  const end = await collect(readRange(file, from, handle.sizeBytes, options));
  return { head, parts, tail: encoding ? decodeUtf16(end, encoding) : end };
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}

/** Read from each end: enough for a stack trace before the first timestamp, little enough for a directory of files. */
export const INSPECTED_BYTES = SAMPLED_START_BYTES;

export type EndsSummary = Pick<LogFileDetails, 'format' | 'firstTimeMs' | 'lastTimeMs'>;

export const EMPTY_SUMMARY: EndsSummary = { format: 'empty', firstTimeMs: null, lastTimeMs: null };

/** What is known from the start of a file's text; `withTail` adds its end. */
export class HeadSummary {
  readonly #head: Buffer;
  readonly #format: Format;

  /** `parts`: of the rest of the text. */
  constructor(
    head: Buffer,
    parts: readonly Buffer[],
    { detector, writtenMs }: { detector: FormatDetector; writtenMs: number },
  ) {
    this.#head = head;
    this.#format = detector.detect(joinSamples(head, parts), writtenMs);
  }

  withoutTail(): EndsSummary {
    return { format: this.#shownFormat(), firstTimeMs: firstTime(this.#format, this.#head), lastTimeMs: null };
  }

  /** `isWhole`: the tail is all of the text. */
  withTail(tail: Buffer, { isWhole }: { isWhole: boolean }): EndsSummary {
    return {
      format: this.#shownFormat(),
      firstTimeMs: firstTime(this.#format, this.#head),
      lastTimeMs: lastTime(this.#format, tail, { isWhole }),
    };
  }

  #shownFormat(): EndsSummary['format'] {
    const isText = this.#format.name !== 'text' || !this.#head.includes(0);
    return isText ? this.#format.name : 'binary';
  }
}

function firstTime(format: Format, bytes: Buffer): number | null {
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    if (format.readHead(bytes, start, end, head) && !Number.isNaN(head.timeMs)) return head.timeMs;
    start = end;
  }
  return null;
}

function lastTime(format: Format, bytes: Buffer, { isWhole }: { isWhole: boolean }): number | null {
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  for (let end = bytes.length; end > 0; ) {
    const start = end > 1 ? bytes.lastIndexOf(10, end - 2) + 1 : 0;
    // The first line of a partial text is probably incomplete.
    if (start === 0 && !isWhole) return null;
    if (format.readHead(bytes, start, end, head) && !Number.isNaN(head.timeMs)) return head.timeMs;
    end = start;
  }
  return null;
}
