import type { Level } from './level.ts';
import type { Zone } from './zone.ts';

/** The formats a file can be told to have. A record of any of them is its first line and the lines that start none. */
export type FormatName =
  | 'contract'
  | 'lindb-access'
  | 'lindb-slow-sql'
  | 'json'
  | 'glog'
  | 'capnslog'
  | 'tidb'
  | 'log4j'
  | 'nginx-access'
  | 'nginx-error'
  | 'syslog'
  | 'syslog-5424'
  | 'iso'
  | 'text';

/** What the first line of a record tells at a glance. One object is filled again and again: no garbage per line. */
export interface LineHead {
  /** Epoch ms; `NaN` where there is none. */
  timeMs: number;
  /** Rank of the level, 1 (TRACE) to 6 (FATAL); 0 where there is none. */
  rank: number;
}

/** A record as its columns. Absent columns are absent; the message is never lost. */
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
   * The context as the log has it, JSON on one line: only where `context` does not give the same tokens again, because
   * of numbers that are too large or written like `1.0`, two keys of one name, or keys that are numbers.
   */
  contextText?: string;
}

/** What formats need to know of a file to read its times. */
export interface FormatOptions {
  /** Zone of times that tell none. */
  zone: Zone;
  /** About when the file was last written (its modification time): gives times without a year their year. */
  writtenMs: number;
}

/** How the lines of one file are read. Stateless: the same line reads the same wherever it stands. */
export interface Format {
  readonly name: FormatName;
  /** Whether times can be expected in it at all. */
  readonly timed: boolean;
  /**
   * Whether the line `[start, end)` starts a record; if so, `head` is filled. `end` may include the line's CR and LF.
   * Looks at nothing outside the line, makes no string, throws on nothing.
   */
  readHead(bytes: Buffer, start: number, end: number, head: LineHead): boolean;
  /** The whole record `[start, end)`, continuation lines included, as columns. */
  decode(bytes: Buffer, start: number, end: number): RecordFields;
}
