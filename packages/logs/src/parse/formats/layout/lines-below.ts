import { splitRecord, trimLineEnd } from '../define-format.ts';
import type { LineMatcher } from './line-layout.ts';

/**
 * How far below the first line of a record its level is searched for. Whoever scans a text has loaded this much behind
 * every line that may start a record.
 */
const MAX_BYTES = 2048;

const NEWLINE = 10;

/** The line with the level below the first line of a record, before an empty line. */
export class LinesBelow {
  readonly #matcher: LineMatcher;
  readonly #lines: number;

  constructor(matcher: LineMatcher, lines: number) {
    this.#matcher = matcher;
    this.#lines = lines;
  }

  /** The rank of the level; 0 if there is none. `lineEnd` is the end of the first line, without its CR and LF. */
  readRank(bytes: Buffer, lineEnd: number, end: number): number {
    return this.#find(bytes, lineEnd, end) < 0 ? 0 : this.#matcher.rank;
  }

  /** The message, if the line with the level has it, and the lines below it. */
  readMessage(bytes: Buffer, lineEnd: number, end: number): string | undefined {
    const line = this.#find(bytes, lineEnd, end);
    if (line < 0) return undefined;
    const { lineEnd: to, more } = splitRecord(bytes, line, end);
    if (this.#matcher.match(bytes, line, to) < 0) return undefined;
    const message = this.#matcher.fields(bytes).find(({ name }) => name === 'message');
    return message && `${String(message.value)}${more}`;
  }

  #find(bytes: Buffer, lineEnd: number, end: number): number {
    const limit = Math.min(end, lineEnd + MAX_BYTES);
    let line = bytes.indexOf(NEWLINE, lineEnd) + 1;
    for (let count = 0; count < this.#lines && line > 0 && line < limit; count++) {
      const newline = bytes.indexOf(NEWLINE, line);
      const next = newline < 0 ? end : newline + 1;
      const to = trimLineEnd(bytes, line, Math.min(next, limit));
      if (to === line) return -1;
      if (this.#matcher.match(bytes, line, to, this.#matcher.layout.headParts) >= 0) return line;
      line = next;
    }
    return -1;
  }
}
