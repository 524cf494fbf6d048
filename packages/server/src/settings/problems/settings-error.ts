import type { SettingSource } from '@porthole/contract';

export type SettingsProblemCode =
  | 'FILE_MISSING'
  | 'FILE_UNREADABLE'
  | 'SYNTAX'
  | 'UNKNOWN_KEY'
  | 'BAD_VALUE'
  /** Values that are fine alone but impossible together. */
  | 'CONFLICT';

export interface SettingsProblem {
  code: SettingsProblemCode;
  /** Complete, with the place: `porthole.toml:12: unknown key "http.prot" - did you mean "http.port"?` */
  message: string;
  source: SettingSource;
  file?: string;
  line?: number;
}

/** A wrong file of another program can hold thousands of keys; these are enough to see that. */
const MAX_LISTED_PROBLEMS = 50;

/** The node cannot start with these settings. Reports all problems at once, one per line. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly problems: readonly SettingsProblem[];

  constructor(problems: readonly SettingsProblem[]) {
    const lines = problems.slice(0, MAX_LISTED_PROBLEMS).map(({ message }) => message);
    if (problems.length > MAX_LISTED_PROBLEMS) lines.push(`... and ${problems.length - MAX_LISTED_PROBLEMS} more`);
    super(lines.join('\n'));
    this.problems = problems;
  }
}
