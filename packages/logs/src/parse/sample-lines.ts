import { isDigit } from './formats/tokens/byte-scan.ts';

export interface Line {
  start: number;
  end: number;
}

/** A line of a sample. */
export interface SampleLine extends Line {
  /** Whether it has the digits of a time near its start; in JSON the time may be anywhere. */
  mayHaveTime: boolean;
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
    lines.push({ start, end, mayHaveTime: mayHaveTime(bytes, start, end) });
  }
  return lines;
}

const OPEN_BRACE = 123;

/** How far from the start of a line the digits of a time are searched for, and how many there are at least: `9:00AM`. */
const TIME_WITHIN_BYTES = 1024;
const LEAST_DIGITS = 3;

function mayHaveTime(bytes: Buffer, start: number, end: number): boolean {
  if (bytes[start] === OPEN_BRACE) return true;
  const limit = Math.min(end, start + TIME_WITHIN_BYTES);
  let digits = 0;
  for (let at = start; at < limit; at++) if (isDigit(bytes[at]) && ++digits === LEAST_DIGITS) return true;
  return false;
}

/** Whether most lines are JSON objects. */
export function isUntimedJson(bytes: Buffer, lines: readonly Line[]): boolean {
  const objects = lines.filter(({ start, end }) => /^\{\s*".*\}\s*$/s.test(bytes.toString('latin1', start, end)));
  return objects.length > lines.length / 2;
}
