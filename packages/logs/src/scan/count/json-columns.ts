import type { ScanKernel } from '../../kernel/scan-kernel.ts';
import { SOURCE_KEYS, TAG_KEYS } from '../../parse/formats/lines/known-keys.ts';

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

/** Numbers per member. */
const STEP = 4;

/** What the value of a member is, as the kernel has it: a text without escapes, or something else. */
const PLAIN_TEXT = 0;
const ESCAPED_TEXT = 1;
const OBJECT = 2;

/**
 * Finds the members of JSON objects in the kernel's text that have one of some names, in any case, without parsing them.
 * Everything is validated on the way, because text that is no JSON has no columns.
 */
class JsonMemberReader {
  readonly #kernel: ScanKernel;
  readonly #lengths: number;

  /** Names in lower case, shorter than 32 bytes. The kernel has room for those of one reader at a time. */
  constructor(kernel: ScanKernel, names: readonly string[]) {
    this.#kernel = kernel;
    this.#lengths = names.reduce((bits, name) => bits | (1 << name.length), 0);
    kernel.path.set(Buffer.from(`${names.map((name) => String.fromCharCode(name.length) + name).join('')}\0`));
  }

  /** How many there are in the line `[start, end)`; negative if it must be parsed. */
  read(start: number, end: number): number {
    return this.#kernel.jsonMembers(start, end, this.#lengths);
  }

  /** The number of the name of a member, in the order of the text. */
  nameOf(member: number): number {
    return this.#kernel.members[member * STEP] ?? 0;
  }

  /** Its value; of a text, without the quotes. */
  startOf(member: number): number {
    return this.#kernel.members[member * STEP + 1] ?? 0;
  }

  endOf(member: number): number {
    return this.#kernel.members[member * STEP + 2] ?? 0;
  }

  kindOf(member: number): number {
    return this.#kernel.members[member * STEP + 3] ?? 0;
  }
}
