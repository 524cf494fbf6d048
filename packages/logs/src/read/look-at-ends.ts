import { detectFormat } from '../parse/detect-format.ts';
import type { Format, LineHead } from '../parse/format.ts';
import type { Zone } from '../parse/zone.ts';
import type { LogFileDetails } from '../types.ts';

/** Looked at from each end: enough for a stack trace before the first timestamp, little enough for a directory of files. */
export const LOOK_BYTES = 64 * 1024;

export type EndsLook = Pick<LogFileDetails, 'format' | 'firstTimeMs' | 'lastTimeMs'>;

export const NOTHING_SEEN: EndsLook = { format: 'empty', firstTimeMs: null, lastTimeMs: null };

/** What the start of a file's text tells; its end, where it is at hand, the rest. */
export class HeadLook {
  readonly #head: Buffer;
  readonly #format: Format;

  constructor(head: Buffer, options: { zone: Zone; writtenMs: number }) {
    this.#head = head;
    this.#format = detectFormat(head, options);
  }

  withoutTail(): EndsLook {
    const isText = this.#format.name !== 'text' || !this.#head.includes(0);
    return {
      format: isText ? this.#format.name : 'binary',
      firstTimeMs: firstTime(this.#format, this.#head, linesOf(this.#head)),
      lastTimeMs: null,
    };
  }

  /** `isWhole`: it is all of the text. */
  withTail(tail: Buffer, { isWhole }: { isWhole: boolean }): EndsLook {
    // What stands first in a part of the file is hardly the start of a line.
    const lines = isWhole ? [...linesOf(tail)] : [...linesOf(tail)].slice(1);
    return { ...this.withoutTail(), lastTimeMs: firstTime(this.#format, tail, lines.reverse()) };
  }
}

type Lines = Iterable<{ start: number; end: number }>;

function firstTime(format: Format, bytes: Buffer, lines: Lines): number | null {
  const head: LineHead = { timeMs: Number.NaN, rank: 0 };
  for (const { start, end } of lines) {
    if (format.readHead(bytes, start, end, head) && !Number.isNaN(head.timeMs)) return head.timeMs;
  }
  return null;
}

function* linesOf(bytes: Buffer): Generator<{ start: number; end: number }> {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    yield { start, end };
    start = end;
  }
}
