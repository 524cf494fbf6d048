import { FormatSet } from './detect-format.ts';
import type { Format, FormatOptions, LineHead } from './format.ts';
import type { UserFormat } from './user-format.ts';
import { createZone } from './zone.ts';

const NEWLINE = 10;

const UTC = createZone('UTC');
/** Few logs are written in it: what is read as the same time in both has its zone in the line. */
const ELSEWHERE = createZone('UTC-11:15');

/** What the lines of a text say about time without saying in which zone. */
export interface LocalTimes {
  /** Whether there are times without a zone. */
  hasLocal: boolean;
  /** Wall-clock ms of the last and the latest of them, as if they were UTC; `undefined` if they lack a year or a date. */
  lastMs?: number;
  newestMs?: number;
}

/** Finds the times in a text whose zone must be known from elsewhere. */
export class LocalTimesReader {
  readonly #formats: FormatSet;

  constructor(formats: readonly UserFormat[] = []) {
    this.#formats = new FormatSet(formats);
  }

  /** `text` consists of whole lines. `writtenMs`: about when it was written. */
  read(text: Buffer, writtenMs: number): LocalTimes {
    const utc = this.#formats.detect(text, { zone: UTC, writtenMs });
    if (!utc.timed) return { hasLocal: false };
    const elsewhere = this.#formats.create(utc.spec, { zone: ELSEWHERE, writtenMs } satisfies FormatOptions);
    const found: LocalTimes = { hasLocal: false };
    for (let start = 0; start < text.length; ) {
      const newline = text.indexOf(NEWLINE, start);
      const end = newline < 0 ? text.length : newline + 1;
      const timeMs = readTime(utc, text, start, end);
      if (timeMs !== undefined && timeMs !== readTime(elsewhere, text, start, end)) {
        found.hasLocal = true;
        found.lastMs = timeMs;
        found.newestMs = Math.max(timeMs, found.newestMs ?? timeMs);
      }
      start = end;
    }
    return this.#formats.hasPartialTimes(utc.spec) ? { hasLocal: found.hasLocal } : found;
  }
}

function readTime(format: Format, text: Buffer, start: number, end: number): number | undefined {
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  return format.readHead(text, start, end, head) && Number.isFinite(head.timeMs) ? head.timeMs : undefined;
}
