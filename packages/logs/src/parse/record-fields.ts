import type { Level } from './level.ts';

/* What clients see of parsing: no types of Node.js, which browsers do not have. */

/**
 * The name of a built-in format or of one from the settings, behind the names of what is around its lines:
 * `docker+json`, `cri+ansi+iso`. A record of any format is its first line and its continuation lines.
 */
export type FormatName = string;

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
