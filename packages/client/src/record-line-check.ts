import { exactJson } from '@porthole/contract';
import type { SearchEnd } from '@porthole/logs/types';
import type { LineRecognizer } from './client-options.ts';
import { decodeEnd, decodeItem, decodeRecord, SkippedItems } from './decode-records.ts';
import { PlainLines } from './plain-lines.ts';

const NEWLINE = 10;
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/** Checks lines of records that another node passes on. */
export class RecordLineCheck {
  readonly #scanner: PlainLines;

  constructor(recognizer?: LineRecognizer) {
    this.#scanner = new PlainLines(recognizer);
  }

  /**
   * The same records: those that our nodes wrote as they are, others decoded and written again. `undefined` if a line is no
   * valid record. The lines are whole.
   */
  check(lines: Uint8Array): Uint8Array | undefined {
    const { bytes } = this.#scanner.plainStart(lines, Number.POSITIVE_INFINITY);
    if (bytes === lines.length) return lines;
    const texts: string[] = [];
    for (let start = bytes, end = 0; start < lines.length; start = end + 1) {
      end = lines.indexOf(NEWLINE, start);
      const skipped = new SkippedItems();
      const item = end < 0 ? undefined : decodeItem(DECODER.decode(lines.subarray(start, end)), skipped);
      const record = item?.type === 'record' ? decodeRecord(item, skipped) : undefined;
      if (record === undefined || skipped.count > 0) return undefined;
      texts.push(`${exactJson(record)}\n`);
    }
    const rest = ENCODER.encode(texts.join(''));
    const checked = new Uint8Array(bytes + rest.length);
    checked.set(lines.subarray(0, bytes));
    checked.set(rest, bytes);
    return checked;
  }

  /** The end of the search of a member. Fields that are not valid are left out. */
  decodeEnd(value: Readonly<Record<string, unknown>>): SearchEnd {
    return decodeEnd(value, new SkippedItems()) as SearchEnd;
  }
}
