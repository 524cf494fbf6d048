import { FIRST_TIME_MS, type LineMix, logLines, MS_PER_LINE } from './log-lines.ts';

const DAY_MS = 86_400_000;
const ZERO = 48;
const DATE_BYTES = '2026-01-01'.length;

/** A stretch of a log whose lines can be given other times in place, some ten million of them per second. */
export class TimedBlock {
  readonly bytes: Buffer;
  readonly #lineStarts: number[] = [];

  constructor(sizeBytes: number, mix: LineMix) {
    this.bytes = Buffer.concat([...logLines(sizeBytes, mix)]);
    for (let start = 0; start < sizeBytes; start = this.bytes.indexOf(10, start) + 1) this.#lineStarts.push(start);
  }

  get lines(): number {
    return this.#lineStarts.length;
  }

  /** The first line gets the time of the line with this number in the whole log. */
  setTimes(firstLine: number): void {
    let day = -1;
    let date = '';
    let timeMs = FIRST_TIME_MS + firstLine * MS_PER_LINE;
    for (const start of this.#lineStarts) {
      if (Math.floor(timeMs / DAY_MS) !== day) {
        day = Math.floor(timeMs / DAY_MS);
        date = new Date(timeMs).toISOString().slice(0, DATE_BYTES);
      }
      for (let index = 0; index < DATE_BYTES; index++) this.bytes[start + index] = date.charCodeAt(index);
      this.#setClock(start + DATE_BYTES + 1, timeMs % DAY_MS);
      timeMs += MS_PER_LINE;
    }
  }

  /** `HH:MM:SS.mmm` */
  #setClock(at: number, ms: number): void {
    const seconds = Math.floor(ms / 1000);
    this.#setTwoDigits(at, Math.floor(seconds / 3600));
    this.#setTwoDigits(at + 3, Math.floor(seconds / 60) % 60);
    this.#setTwoDigits(at + 6, seconds % 60);
    this.#setTwoDigits(at + 9, Math.floor((ms % 1000) / 10));
    this.bytes[at + 11] = ZERO + (ms % 10);
  }

  #setTwoDigits(at: number, value: number): void {
    this.bytes[at] = ZERO + Math.floor(value / 10);
    this.bytes[at + 1] = ZERO + (value % 10);
  }
}
