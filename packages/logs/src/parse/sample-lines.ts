import { isDigit } from './formats/tokens/byte-scan.ts';

const OPEN_BRACE = 123;

/** A line of the start of a file. */
export interface Line {
  start: number;
  end: number;
  /** Whether it has the digits of a time near its start; in JSON the time may be anywhere. */
  mayHaveTime: boolean;
}

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

/** The last line is left out if it has no end yet, unless it is the only one. */
export function completeLines(bytes: Buffer, most: number): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < bytes.length && lines.length < most; ) {
    const newline = bytes.indexOf(10, start);
    if (newline < 0 && lines.length > 0) break;
    const end = newline < 0 ? bytes.length : newline + 1;
    lines.push({ start, end, mayHaveTime: mayHaveTime(bytes, start, end) });
    start = end;
  }
  return lines;
}
