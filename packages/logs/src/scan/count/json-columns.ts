import type { ScanKernel } from '../../kernel/scan-kernel.ts';
import { SOURCE_KEYS, TAG_KEYS } from '../../parse/formats/lines/known-keys.ts';
import { ESCAPED_TEXT, JsonMemberReader, OBJECT, PLAIN_TEXT } from './json-member-reader.ts';

const COLON = 58;

/** Finds the source of records in JSON without decoding them. Only one reader at a time, see `JsonMemberReader`. */
export class JsonSourceReader {
  start = 0;
  end = 0;
  readonly #members: JsonMemberReader;

  constructor(kernel: ScanKernel) {
    this.#members = new JsonMemberReader(kernel, SOURCE_KEYS);
  }

  /** Whether the record `[start, end)` has one, found at `start`; `undefined` if it must be decoded. */
  find(bytes: Buffer, start: number, end: number): boolean | undefined {
    const members = this.#members;
    const count = members.read(start, end);
    if (count < 0) return undefined;
    for (let member = 0; member < count; member++) {
      const kind = members.kindOf(member);
      if (kind === OBJECT || kind === ESCAPED_TEXT) return undefined;
      if (kind !== PLAIN_TEXT) continue;
      this.start = members.startOf(member);
      this.end = members.endOf(member);
      if (endsInLine(bytes, this.start, this.end)) return true;
    }
    return false;
  }
}

/** Finds the tags of records in JSON without decoding them. */
export class JsonTagReader {
  start = 0;
  end = 0;
  readonly #members: JsonMemberReader;

  constructor(kernel: ScanKernel) {
    this.#members = new JsonMemberReader(kernel, TAG_KEYS);
  }

  /** How many tags the record `[start, end)` has, none or one; negative if it must be decoded, as with more of them. */
  find(start: number, end: number): number {
    const members = this.#members;
    const count = members.read(start, end);
    if (count < 0) return -1;
    let found = 0;
    for (let member = 0; member < count; member++) {
      const kind = members.kindOf(member);
      if (kind === ESCAPED_TEXT) return -1;
      if (kind !== PLAIN_TEXT || members.endOf(member) === members.startOf(member)) continue;
      if (++found > 1) return -1;
      this.start = members.startOf(member);
      this.end = members.endOf(member);
    }
    return found;
  }
}

/** Whether the text ends in a colon and the number of a line. */
function endsInLine(bytes: Buffer, start: number, end: number): boolean {
  let at = end - 1;
  while (at >= start && isDigit(bytes[at] ?? 0)) at--;
  return at >= start && at < end - 1 && bytes[at] === COLON;
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57;
}
