import { closeSync, openSync, writeSync } from 'node:fs';

/** A line of the contract's format that carries its number and when it was written; see `LINE_PATTERN`. */
const LINE_TEXT = 'line';

/** Finds number and time, in ns of the system's steady clock, wherever the line is quoted. */
export const LINE_PATTERN = /line (\d+) written (\d+)\b/g;

export interface WriterOptions {
  linesPerSecond: number;
  /** The length of each line, filled up with dots. */
  lineBytes?: number;
}

export interface LineWriter {
  /** The number of the next line. */
  readonly next: number;
  readonly bytes: number;
  stop(): void;
}

/** Appends numbered lines to a file, each with a write of its own, until stopped. */
export function startWriter(path: string, { linesPerSecond, lineBytes = 0 }: WriterOptions): LineWriter {
  const descriptor = openSync(path, 'a');
  const startedAt = performance.now();
  let next = 0;
  let bytes = 0;
  let isOpen = true;
  // Timers come late now and then: each time, all lines that are due.
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) * linesPerSecond) / 1000;
    for (; next < due; next++) bytes += writeSync(descriptor, makeLine(next, lineBytes));
  }, 1);
  return {
    get next() {
      return next;
    },
    get bytes() {
      return bytes;
    },
    stop() {
      clearInterval(timer);
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}

function makeLine(number: number, lineBytes: number): string {
  const time = new Date().toISOString();
  const head = `${time.slice(0, 10)} ${time.slice(11, 23)}\tINFO\tbench/writer.go:1\t[bench]: `;
  const text = `${LINE_TEXT} ${number} written ${process.hrtime.bigint()} `;
  return `${(head + text).padEnd(lineBytes - 1, '.')}\n`;
}
