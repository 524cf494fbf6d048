import type { FormatDetector } from '../parse/detect-format.ts';
import type { Format, LineHead } from '../parse/format.ts';
import type { LogFileDetails } from '../types.ts';

/** Read from each end: enough for a stack trace before the first timestamp, little enough for a directory of files. */
export const INSPECTED_BYTES = 64 * 1024;

export type EndsSummary = Pick<LogFileDetails, 'format' | 'firstTimeMs' | 'lastTimeMs'>;

export const EMPTY_SUMMARY: EndsSummary = { format: 'empty', firstTimeMs: null, lastTimeMs: null };

/** What is known from the start of a file's text; `withTail` adds its end. */
export class HeadSummary {
  readonly #head: Buffer;
  readonly #format: Format;

  constructor(head: Buffer, { detector, writtenMs }: { detector: FormatDetector; writtenMs: number }) {
    this.#head = head;
    this.#format = detector.detect(head, writtenMs);
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
