import type { TomlValue } from 'smol-toml';
import { describeFound, showValue } from '../show-value.ts';

/** What a setting can hold, in memory and in the file. */
export type SettingScalar = string | number | boolean | string[];

/** What a setting's value may be and how each source spells it. */
export interface SettingKind<T extends SettingScalar = SettingScalar> {
  /** The type as the documentation names it: `port`, `list of origins`. */
  readonly name: string;
  /** The same in a sentence: `a port`. */
  readonly noun: string;
  /** Which values of the type are accepted: `0 to 65535`. */
  readonly accepted: string;
  /** The smallest and largest value, where the documentation has to tell: `10ms to 1d`. */
  readonly limits?: string;
  /** How a command line passes it: alone (`switch`), once (`value`) or any number of times (`list`). */
  readonly shape: 'switch' | 'value' | 'list';
  /** From an environment variable or a flag. Paths are resolved against `baseDir`. */
  fromText(text: string, baseDir: string): Reading<T>;
  /** From a file read with whole numbers as `bigint`, so that `7300.0` is not taken for a port. */
  fromToml(value: TomlValue, baseDir: string): Reading<T>;
  /** From a program: durations in milliseconds, sizes in bytes. */
  fromOption(value: unknown, baseDir: string): Reading<T>;
  /** As one would write it in the file. */
  toJson(value: T): SettingScalar;
}

export type Reading<T> = { value: T } | Refusal;

interface Refusal {
  refused: unknown;
  wrong: 'type' | 'value';
  noun: string;
  accepted: string;
}

type Wanted = Pick<SettingKind, 'noun' | 'accepted'>;

export function refuseType(wanted: Wanted, refused: unknown): Refusal {
  return { refused, wrong: 'type', noun: wanted.noun, accepted: wanted.accepted };
}

/** The reading of a value of the right type: `undefined` says that it is not an accepted one. */
export function toReading<T>(wanted: Wanted, written: unknown, value: T | undefined): Reading<T> {
  if (value !== undefined) return { value };
  return { refused: written, wrong: 'value', noun: wanted.noun, accepted: wanted.accepted };
}

/** Why a value was refused, in words. The value of a secret setting is not repeated. */
export function refusalText(refusal: Refusal, { secret }: { secret: boolean }): string {
  const { refused, wrong, noun, accepted } = refusal;
  if (secret) return `the value is not ${noun} (${accepted})`;
  if (wrong === 'type') return `expected ${noun}, found ${describeFound(refused)}`;
  return `${showValue(refused)} is not ${noun} (${accepted})`;
}
