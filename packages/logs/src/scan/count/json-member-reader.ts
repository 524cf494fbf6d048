import type { ScanKernel } from '../../kernel/scan-kernel.ts';

/** Numbers per member. */
const STEP = 4;

/** What the value of a member is, as the kernel has it: a text without escapes, or something else. */
export const PLAIN_TEXT = 0;
export const ESCAPED_TEXT = 1;
export const OBJECT = 2;

/**
 * Finds the members of JSON objects in the kernel's text that have one of some names, in any case, without parsing them.
 * Everything is validated on the way, because text that is no JSON has no columns.
 */
export class JsonMemberReader {
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
