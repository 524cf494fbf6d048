import { isDigit } from './formats/tokens/byte-scan.ts';

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

/** Lines that differ in nothing but digits near their start: one stands for all of them. */
export interface LineGroup extends Line {
  count: number;
}

/** The lines of a sample. The last one is left out if it has no end yet, unless it is the only one. */
export function* eachLine(bytes: Buffer): Generator<Line, void, undefined> {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    if (newline < 0 && start > 0) return;
    const end = newline < 0 ? bytes.length : newline + 1;
    yield { start, end };
    start = end;
  }
}

/** The first lines of a sample. */
export function completeLines(bytes: Buffer, most: number): SampleLine[] {
  const lines: SampleLine[] = [];
  for (const { start, end } of eachLine(bytes)) {
    if (lines.length >= most) break;
    lines.push({ start, end, ...findDigits(bytes, start, end) });
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

/** What distinguishes lines: most times, and what surrounds them, are within this much. */
const GROUPED_BYTES = 64;

/**
 * Groups lines by their start, with a zero for each digit: whether a format finds a time in them is tried once per group.
 * JSON objects with the same start may differ in the rest.
 */
export function groupLines(bytes: Buffer, lines: readonly Line[]): LineGroup[] {
  const groups = new Map<string, LineGroup>();
  for (const { start, end } of lines) {
    const isJson = bytes[start] === OPEN_BRACE;
    const head = bytes.toString('latin1', start, Math.min(end, start + GROUPED_BYTES));
    const key = isJson ? String(start) : head.replace(/\d/g, '0');
    const group = groups.get(key);
    if (group) group.count++;
    else groups.set(key, { start, end, count: 1 });
  }
  return [...groups.values()];
}

/** Whether most lines are JSON objects. */
export function isUntimedJson(bytes: Buffer, lines: readonly Line[]): boolean {
  const objects = lines.filter(({ start, end }) => isObject(bytes, start, end));
  return objects.length > lines.length / 2;
}

function isObject(bytes: Buffer, start: number, end: number): boolean {
  if (bytes[start] !== OPEN_BRACE) return false;
  let first = start + 1;
  while (first < end && isBlank(bytes[first])) first++;
  let last = end - 1;
  while (last > first && isBlank(bytes[last])) last--;
  return bytes[first] === QUOTE && bytes[last] === CLOSE_BRACE;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 32 || (byte !== undefined && byte >= 9 && byte <= 13);
}
