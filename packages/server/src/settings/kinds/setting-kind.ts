import type { TomlValue } from 'smol-toml';
import { describeFound, showValue } from '../show-value.ts';

/** The value of a setting, in memory and in the file. */
export type SettingScalar = string | number | boolean | string[];

/** The type of a setting: its valid values, and how each source spells them. */
export interface SettingKind<T extends SettingScalar = SettingScalar> {
  /** The type as the documentation names it: `port`, `list of origins`. */
  readonly name: string;
  /** The name in a sentence: `a port`. */
  readonly noun: string;
  /** The accepted values: `0 to 65535`. */
  readonly accepted: string;
  /** The smallest and largest value, for the documentation: `10ms to 1d`. */
  readonly limits?: string;
  /** How a command line passes it: alone (`switch`), once (`value`) or any number of times (`list`). */
  readonly shape: 'switch' | 'value' | 'list';
  /** From an environment variable or a flag. Paths are resolved against `baseDir`. */
  fromText(text: string, baseDir: string): Reading<T>;
  /** From a file parsed with integers as `bigint`, so that `7300.0` is not taken for a port. */
  fromToml(value: TomlValue, baseDir: string): Reading<T>;
  /** From a program: durations in milliseconds, sizes in bytes. */
  fromOption(value: unknown, baseDir: string): Reading<T>;
  /** As in the file. */
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

/** The reading of a value of the right type; `undefined`: it is not accepted. */
export function toReading<T>(wanted: Wanted, written: unknown, value: T | undefined): Reading<T> {
  if (value !== undefined) return { value };
  return { refused: written, wrong: 'value', noun: wanted.noun, accepted: wanted.accepted };
}

/** The message for a refused value. The value of a secret setting is not repeated. */
export function refusalText(refusal: Refusal, { secret }: { secret: boolean }): string {
  const { refused, wrong, noun, accepted } = refusal;
  if (secret) return `the value is not ${noun} (${accepted})`;
  if (wrong === 'type') return `expected ${noun}, found ${describeFound(refused)}`;
  return `${showValue(refused)} is not ${noun} (${accepted})`;
}

export interface SettingRow<N extends string = string, T extends SettingScalar = SettingScalar> {
  /** The key within its table of the file. */
  name: N;
  kind: SettingKind<T>;
  /** As in memory: milliseconds, bytes; a relative path counts from the working directory. */
  default: NoInfer<T>;
  /** What it does and what its special values mean. One or more sentences, Markdown without links. */
  about: string;
  /** Instead of `--section-name`. */
  flag?: string;
  /** Never shown, not even in an error. */
  secret?: true;
}

/** Keeps the literal name and the type of the value. */
export function setting<const N extends string, T extends SettingScalar>(row: SettingRow<N, T>): SettingRow<N, T> {
  return row;
}

/** Lists are searched per request; one of thousands is a mistake. */
const MAX_ITEMS = 256;

/** Any number of items of one kind. Text is split at commas; empty items are ignored. */
export function list(
  item: SettingKind<string>,
  { plural, maxItems = MAX_ITEMS }: { plural: string; maxItems?: number },
): SettingKind<string[]> {
  const wanted = { noun: `a list of ${plural}`, accepted: `at most ${maxItems}` };

  function readAll<V>(values: readonly V[], read: (value: V) => Reading<string>): Reading<string[]> {
    if (values.length > maxItems) return toReading<string[]>(wanted, values, undefined);
    const items: string[] = [];
    for (const value of values) {
      const reading = read(value);
      if ('refused' in reading) return reading;
      items.push(reading.value);
    }
    return { value: items };
  }

  return {
    name: `list of ${plural}`,
    ...wanted,
    shape: 'list',
    fromText: (text, baseDir) => readAll(splitAtCommas(text), (part) => item.fromText(part, baseDir)),
    fromToml: (value, baseDir) =>
      Array.isArray(value) ? readAll(value, (part) => item.fromToml(part, baseDir)) : refuseType(wanted, value),
    fromOption: (value, baseDir) =>
      Array.isArray(value)
        ? readAll<unknown>(value, (part) => item.fromOption(part, baseDir))
        : refuseType(wanted, value),
    toJson: (value) => [...value],
  };
}

function splitAtCommas(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Spellings used by shells, compose files and charts; the file itself has TOML's two. */
const SPELLINGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['off', false],
  ['0', false],
]);

/** A boolean. */
export function onOff(): SettingKind<boolean> {
  const wanted = { noun: 'a boolean', accepted: 'true or false' };
  function read(value: unknown): Reading<boolean> {
    return typeof value === 'boolean' ? { value } : refuseType(wanted, value);
  }
  return {
    name: 'boolean',
    ...wanted,
    shape: 'switch',
    fromText: (text) => toReading(wanted, text, SPELLINGS.get(text.toLowerCase())),
    fromToml: read,
    fromOption: read,
    toJson: (value) => value,
  };
}
