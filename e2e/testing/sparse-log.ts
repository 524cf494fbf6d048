import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { logLine } from './log-writer.ts';

const FIRST_MS = Date.UTC(2026, 0, 1);
const LINE_BYTES = 500;
const MB = 1_000_000;

/** Between parts with something to read there is so much of nothing: whoever looks for a time reads no more than that. */
const HOLE_BYTES = 2 * MB;

/** Real lines at the start and at the end; in the middle so many that a pixel of a scroll bar is not too coarse. */
const END_BYTES = MB;
const MIDDLE_SHARE = 0.004;

/** When the line at an offset was written: what stands later was written later. */
export function sparseTimeMs(offset: number): number {
  return FIRST_MS + Math.floor(offset / 100);
}

/** A log that takes far less disk than its size says. What is in its holes reads as very long lines without a word. */
export function writeSparseLog(path: string, sizeBytes: number): void {
  const descriptor = openSync(path, 'w');
  ftruncateSync(descriptor, sizeBytes);
  const write = (start: number, bytes: number) => {
    const stretch = linesAt(start, bytes);
    writeSync(descriptor, stretch, start);
  };
  for (let start = HOLE_BYTES; start < sizeBytes - END_BYTES; start += HOLE_BYTES) write(start, 2 * LINE_BYTES);
  write(0, END_BYTES);
  const middleBytes = sizeBytes * MIDDLE_SHARE;
  write((sizeBytes - middleBytes) / 2, middleBytes);
  write(sizeBytes - END_BYTES, END_BYTES);
  closeSync(descriptor);
}

/** Lines that contain their offset, exactly this many bytes in all. The first ends the line before it. */
function linesAt(start: number, bytes: number): string {
  const lines: string[] = [];
  for (let offset = start; offset < start + bytes; offset += LINE_BYTES) {
    const line = logLine(`at ${offset}`, { timeMs: sparseTimeMs(offset) }).trimEnd();
    lines.push(`\n${line.padEnd(LINE_BYTES - 1, '.')}`);
  }
  const text = lines.join('');
  // Ends with a line feed instead of beginning with one at the very start.
  return start === 0 ? `${text.slice(1)}\n` : `${text.slice(0, -1)}\n`;
}
