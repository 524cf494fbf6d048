import type { Level } from './level.ts';
import type { Zone } from './zone.ts';

/**
 * The name of a built-in format or of one from the settings, behind the names of what is around its lines:
 * `docker+json`, `cri+ansi+iso`. A record of any format is its first line and its continuation lines.
 */
export type FormatName = string;

/** What may be around every line of another format. */
export type WrapperName = 'docker' | 'cri' | 'ansi' | 'compose' | 'indented';

/** The time and level of the first line of a record. One object is reused: no garbage per line. */
export interface LineHead {
  /** Epoch ms; `NaN` if there is none. */
  timeMs: number;
  /** Rank of the level, 1 (TRACE) to 6 (FATAL); 0 if there is none. */
  rank: number;
}

/** A record as columns. Missing columns are absent; the message is always present. */
export interface RecordFields {
  timeMs?: number;
  level?: Level;
  /** `file:line` of the code that wrote it. */
  source?: string;
  /** Names of the component that wrote it: bracketed tags, a logger's name, a program. */
  tags?: string[];
  message: string;
  context?: Record<string, unknown>;
  /**
   * The context as written in the log, JSON on one line: only if `context` does not serialize to the same tokens,
   * because of numbers that are too large or written like `1.0`, duplicate keys, or numeric keys.
   */
  contextText?: string;
}

/** What formats need to know about a file to parse its times. */
export interface FormatOptions {
  /** Zone of times that have none. */
  zone: Zone;
  /** When the file was last written (its modification time): determines the year of times without one. */
  writtenMs: number;
}

/** Parses the lines of one file. Stateless: the result does not depend on where a line is. */
export interface Format {
  readonly name: FormatName;
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
