import type { SettingSource } from '@porthole/contract';
import { checkOptions } from '../settings/check-options.ts';

/** The configuration of a program: TOML text or an object, whose values can be marked with `mark`. */
export type ProgramConfig = string | object;

export type ConfigOption = ProgramConfig | (() => ProgramConfig | Promise<ProgramConfig>);

export interface Marks {
  /** Where the value comes from: `env`, `flag`, `file`, `option` or `default`. */
  source?: SettingSource;
  /** Masked in the configuration and in log text, whatever its key is called. */
  secret?: boolean;
}

/** A value of a configuration object together with what is known of it. */
export class MarkedValue {
  readonly value: unknown;
  readonly marks: Marks;

  constructor(value: unknown, marks: Marks) {
    this.value = value;
    this.marks = marks;
  }
}

/** Marks a value of a configuration object, or all values of a part of one: `mark(process.env.DSN, { secret: true })`. */
export function mark(value: unknown, marks: Marks): MarkedValue {
  checkOptions('mark()', marks, { source: 'string', secret: 'boolean' });
  return new MarkedValue(value, marks);
}
