import type { WrapperName } from '../../format.ts';

/** The text inside a line, up to its first newline. One object is reused. */
export interface InnerLine {
  bytes: Buffer;
  start: number;
  end: number;
}

/** What puts something around each line of another format. Of one file: it reuses its buffers. */
export interface LineWrapper {
  readonly name: WrapperName;
  /** Whether it has times. */
  readonly timed: boolean;
  /** Of so many lines at the start of a file, blank ones left out, at least this share and this many must be wrapped. */
  readonly examinedLines: number;
  readonly minShare: number;
  readonly minLines: number;
  /** Whether the line, without its CR and LF, shows that the file is wrapped. May create strings. */
  isTypical(bytes: Buffer, start: number, end: number): boolean;
  /** Finds the inner line of `[start, end)`, without its CR and LF; false if it is not wrapped. Creates no strings. */
  readInner(bytes: Buffer, start: number, end: number, inner: InnerLine): boolean;
  /** The time of the wrapper; `NaN` if there is none. */
  readTime(bytes: Buffer, start: number, end: number): number;
  /**
   * The inner text of the line `[start, end)`, which includes its CR and LF, with a newline unless the next line
   * continues it; `undefined` if it is not wrapped.
   */
  unwrap(bytes: Buffer, start: number, end: number): Buffer | undefined;
  /** What the wrapper says about the line, for the context of its record. */
  readContext(bytes: Buffer, start: number, end: number): readonly (readonly [string, unknown])[];
}

/** A buffer that grows as needed and is used again for every line. */
export class Scratch {
  #buffer = Buffer.alloc(0);

  ofSize(bytes: number): Buffer {
    if (this.#buffer.length < bytes) this.#buffer = Buffer.alloc(Math.max(bytes, 2 * this.#buffer.length));
    return this.#buffer;
  }
}
