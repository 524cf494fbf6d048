import type { FormatName, RecordFields } from '../types.ts';
import type { Zone } from './zone.ts';

export type { FormatName, RecordFields } from '../types.ts';

/** What may be around every line of another format. */
export type WrapperName = 'docker' | 'cri' | 'ansi' | 'compose' | 'indented';

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
  /** Decodes the whole record `[start, end)`, continuation lines included. */
  decode(bytes: Buffer, start: number, end: number): RecordFields;
}
