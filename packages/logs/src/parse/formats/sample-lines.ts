import { isDigit } from './tokens/byte-scan.ts';

export interface Line {
  start: number;
  end: number;
}

/** A line of a sample. */
export interface SampleLine extends Line {
  /** Whether it has the digits of a time near its start; in JSON the time may be anywhere. */
  mayHaveTime: boolean;
  /** Whether it has a time as built-in formats have them: with `1:2`, or six digits in a row (nine in JSON). */
  mayHaveUsualTime: boolean;
}

/** How much of the start of a text is sampled, and how much of each other place. */
export const SAMPLED_START_BYTES = 64 * 1024;
const SAMPLED_PART_BYTES = 16 * 1024;

/** What `joinSamples` returns is no longer. */
export const MAX_SAMPLE_BYTES = SAMPLED_START_BYTES + 2 * SAMPLED_PART_BYTES;

/**
 * Where a text is sampled besides its start, which may differ from the rest: in the middle and at the end. The places
 * stay the same until the text has grown by a third, so that the format of a file that is being written does, too.
 */
export function samplePlaces(sizeBytes: number): (Line & { length: number })[] {
  if (sizeBytes <= SAMPLED_START_BYTES) return [];
  let size = SAMPLED_START_BYTES;
  while (size * 2 <= sizeBytes) size *= 2;
  if (size * 1.5 <= sizeBytes) size *= 1.5;
  return [size / 2, size - SAMPLED_PART_BYTES]
    .filter((start) => start >= SAMPLED_START_BYTES)
    .map((start) => ({ start, end: start + SAMPLED_PART_BYTES, length: SAMPLED_PART_BYTES }));
}

const LINE_FEED = Buffer.from('\n');

/** One sample of the start of a text and of parts of it: their whole lines. */
export function joinSamples(start: Buffer, parts: readonly Buffer[]): Buffer {
  const wholes = parts.map((part) => part.subarray(part.indexOf(10) + 1, part.lastIndexOf(10) + 1));
  if (wholes.every(({ length }) => length === 0)) return start;
  const startEnd = start.lastIndexOf(10) + 1;
  // The first line of a text may be longer than what is sampled of it.
  return Buffer.concat(startEnd > 0 ? [start.subarray(0, startEnd), ...wholes] : [start, LINE_FEED, ...wholes]);
}

/**
 * End of the line of a sample that starts here; -1 at its end. The last line is left out if it has no end yet, unless it
 * is the only one. (No generator: it takes longer than the rest of the work on a short file.)
 */
export function sampleLineEnd(bytes: Buffer, start: number): number {
  if (start >= bytes.length) return -1;
  const newline = bytes.indexOf(10, start);
  if (newline >= 0) return newline + 1;
  return start > 0 ? -1 : bytes.length;
}

/** The first lines of a sample. */
export function completeLines(bytes: Buffer, most: number): SampleLine[] {
  const lines: SampleLine[] = [];
  for (let start = 0, end = sampleLineEnd(bytes, 0); end >= 0; start = end, end = sampleLineEnd(bytes, start)) {
    if (lines.length >= most) break;
    const { mayHaveTime, mayHaveUsualTime } = findDigits(bytes, start, end);
    lines.push({ start, end, mayHaveTime, mayHaveUsualTime });
  }
  return lines;
}

const OPEN_BRACE = 123;
const COLON = 58;
const QUOTE = 34;
const CLOSE_BRACE = 125;

/** How far from the start of a line the digits of a time are searched for, and how many there are at least: `9:00AM`. */
const TIME_WITHIN_BYTES = 1024;
const LEAST_DIGITS = 3;

/** Digits in a row of a time without colons: of a clock like `101500`, and of an epoch. */
const CLOCK_DIGITS = 6;
const EPOCH_DIGITS = 9;

function findDigits(bytes: Buffer, start: number, end: number): Omit<SampleLine, keyof Line> {
  const isJson = bytes[start] === OPEN_BRACE;
  const limit = isJson ? end : Math.min(end, start + TIME_WITHIN_BYTES);
  const longRun = isJson ? EPOCH_DIGITS : CLOCK_DIGITS;
  let digits = 0;
  let run = 0;
  for (let at = start; at < limit; at++) {
    if (isDigit(bytes[at])) {
      digits++;
      run++;
      if (run === longRun) return { mayHaveTime: true, mayHaveUsualTime: true };
      continue;
    }
    if (run > 0 && bytes[at] === COLON && at + 1 < limit && isDigit(bytes[at + 1]))
      return { mayHaveTime: true, mayHaveUsualTime: true };
    run = 0;
  }
  return { mayHaveTime: isJson || digits >= LEAST_DIGITS, mayHaveUsualTime: false };
}

/** Whether a line looks like a JSON object; the end of a long one need not be there. */
export function isObject(bytes: Buffer, start: number, end: number): boolean {
  if (bytes[start] !== OPEN_BRACE) return false;
  let first = start + 1;
  while (first < end && isBlank(bytes[first])) first++;
  return bytes[first] === QUOTE || (bytes[first] === CLOSE_BRACE && first === end - 1);
}

function isBlank(byte: number | undefined): boolean {
  return byte === 32 || (byte !== undefined && byte >= 9 && byte <= 13);
}
