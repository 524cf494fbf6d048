import type { LineRecognizer } from './client-options.ts';
import { LinePattern } from './line-pattern.ts';
import { PlainRecordScanner } from './plain-records.ts';

const NEWLINE = 0x0a;

const STRICT_DECODER = new TextDecoder('utf-8', { fatal: true });

/** Lines that are not recognized come in rows: each attempt costs more than scanning some of them. */
const MAX_PAUSE = 1023;

/** Finds the lines of one response that can be passed on as they are. */
export class PlainLines {
  readonly #scanner = new PlainRecordScanner();
  readonly #recognizer: LineRecognizer;

  constructor(recognizer: LineRecognizer = new LinePattern()) {
    this.#recognizer = recognizer;
  }

  /** The bytes and the number of the lines at the start that can be passed on as they are, at most so many. */
  plainStart(lines: Uint8Array, most: number): { bytes: number; count: number } {
    let bytes = 0;
    let count = 0;
    let isValid: boolean | undefined;
    for (let pause = 0, left = 0; count < most; left--) {
      if (left <= 0) {
        const known = this.#recognizer.recognize(lines, bytes, most - count);
        bytes += known.bytes;
        count += known.count;
        pause = known.count > 0 ? 1 : Math.min(2 * pause + 1, MAX_PAUSE);
        left = pause;
      }
      const end = count < most ? lines.indexOf(NEWLINE, bytes) : -1;
      isValid ??= end < 0 || isUtf8(lines);
      if (end < 0 || !isValid || !this.#scanner.isPlain(lines, bytes, end)) break;
      bytes = end + 1;
      count++;
    }
    return { bytes, count };
  }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    STRICT_DECODER.decode(bytes);
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}
