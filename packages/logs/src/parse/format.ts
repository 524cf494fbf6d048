import type { FormatName, RecordFields } from '../types.ts';
import type { Zone } from './zone.ts';

export type { FormatName, RecordFields } from '../types.ts';

/** What may be around every line of another format. */
export type WrapperName = 'docker' | 'cri' | 'ansi' | 'compose' | 'indented';

/** No format reads more of a line to find its time and level: a line of JSON may have them at its end. */
export const MAX_HEAD_BYTES = 128 * 1024;

/** The time and level of the first line of a record. One object is reused: no garbage per line. */
export interface LineHead {
  /** Epoch ms; `NaN` if there is none. */
  timeMs: number;
  /** Rank of the level, 1 (TRACE) to 6 (FATAL); 0 if there is none. */
  rank: number;
}

/** What formats need to know about a file to parse its times. */
export interface FormatOptions {
  /** Zone of times that have none. */
  zone: Zone;
  /** When the file was last written (its modification time): determines the year of times without one. */
  writtenMs: number;
}

/** What is between the name of a format and what was learned of a file. */
export const LEARNED_MARK = '~';

/** The name of the format that is created from a spec. */
export function formatName(spec: FormatName): FormatName {
  return spec.split(LEARNED_MARK, 1)[0] ?? spec;
}

/** What the scan kernel knows of the lines of a file: see heads/head-program.ts. */
export interface HeadProgram {
  /** What the kernel needs in its memory; changes with what is learned. */
  readonly image: Uint8Array;
  /** Notes how many lines the kernel has read without help. */
  addCredit(lines: number): void;
  /** Learns from a line of which the kernel was not sure, given without CR and LF; whether it can read more lines now. */
  learn(bytes: Buffer, line: number, lineEnd: number): boolean;
}

/** Parses the lines of one file. Stateless: the result does not depend on where a line is. */
export interface Format {
  /** As it is shown to users. */
  readonly name: FormatName;
  /** From which the same format is created, in another thread or later: the name, and what was learned of the file. */
  readonly spec: FormatName;
  /** Whether the format has times at all. */
  readonly timed: boolean;
  /**
   * Whether the line `[start, end)` starts a record; if so, `head` is filled. `end` may include the line's CR and LF.
   * Reads nothing outside the line, but for formats whose levels are on lines below; creates no strings, never throws.
   */
  readHead(bytes: Buffer, start: number, end: number, head: LineHead): boolean;
  /** Whether time or level may be on a line below the first one of a record. */
  readonly readsBelow?: boolean;
  /** By which the scan kernel reads most heads, with the same result; made when it is first needed. */
  readonly program?: HeadProgram | undefined;
  /** Levels are words of the contract behind a tab or a space, before a tab or the end of the line. */
  readonly hasLevelColumn?: boolean;
  /** Decodes the whole record `[start, end)`, continuation lines included. */
  decode(bytes: Buffer, start: number, end: number): RecordFields;
}
