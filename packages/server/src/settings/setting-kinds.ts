import { DURATION_UNITS, durationText, readDuration } from '@porthole/contract';
import { describeFound, showValue } from './show-value.ts';

/** The value of a setting, in memory and in the file. */
export type SettingScalar = string | number | boolean | string[];

/** How a source writes values. */
export interface Notation {
  /**
   * `text`: environment variables and flags. `toml`: a file parsed with integers as `bigint`, so that `7300.0` is not
   * taken for a port. `option`: a program, with durations in milliseconds and sizes in bytes.
   */
  form: 'text' | 'toml' | 'option';
  /** Relative paths are resolved against it. */
  baseDir: string;
}

/** The type of a setting: its valid values, and how each source writes them. */
export interface SettingKind<T extends SettingScalar = SettingScalar> {
  /** The type as the documentation names it: `port`, `list of origins`. */
  readonly name: string;
  /** The name in a sentence: `a port`. */
  readonly noun: string;
  /** The accepted values: `0 to 65535`. */
  readonly accepted: string;
  /** The smallest and largest value, for the documentation: `10ms to 1d`. May be empty. */
  readonly limits: string;
  /** How a command line passes it: alone (`switch`), once (`value`) or any number of times (`list`). */
  readonly shape: 'switch' | 'value' | 'list';
  read(value: unknown, notation: Notation): Reading<T>;
  /** As in the file. */
  toJson(value: T): SettingScalar;
  /** As a TOML literal, if it is not that of its JSON. */
  toToml?(value: T): string;
}

/** The value, or the message that refuses it. */
export type Reading<T> = { value: T } | { refused: string };

type KindNames = Pick<SettingKind, 'noun' | 'accepted'>;

function refuseType({ noun }: KindNames, value: unknown, { form }: Notation): { refused: string } {
  return { refused: `expected ${noun}, found ${describeFound(value, form)}` };
}

function refuseValue({ noun, accepted }: KindNames, value: unknown): { refused: string } {
  return { refused: `${showValue(value)} is not ${noun} (${accepted})` };
}

interface KindRules<T extends SettingScalar, V> extends Partial<Omit<SettingKind<T>, 'read'>> {
  noun: string;
  accepted: string;
  /** Whether a value has the type this notation uses. */
  hasType(value: unknown, form: Notation['form']): value is V;
  /** `undefined`: not accepted. */
  parse(value: V, baseDir: string): T | undefined;
}

export function defineKind<T extends SettingScalar, V>({ hasType, parse, ...kind }: KindRules<T, V>): SettingKind<T> {
  function read(value: unknown, notation: Notation): Reading<T> {
    if (!hasType(value, notation.form)) return refuseType(kind, value, notation);
    const parsed = parse(value, notation.baseDir);
    return parsed === undefined ? refuseValue(kind, value) : { value: parsed };
  }
  const name = kind.noun.replace(/^an? /, '');
  return { name, limits: '', shape: 'value', toJson: (value) => value, ...kind, read };
}

/** Lists are searched per request; one of thousands is a mistake. */
const MAX_ITEMS = 256;

/** Any number of items of one kind. Text is split at commas; empty items are ignored. */
export function list(item: SettingKind<string>, plural: string, maxItems = MAX_ITEMS): SettingKind<string[]> {
  const name = `list of ${plural}`;
  const kind = { name, noun: `a ${name}`, accepted: `at most ${maxItems}`, limits: '', shape: 'list' as const };
  function read(value: unknown, notation: Notation): Reading<string[]> {
    const given: unknown = notation.form === 'text' ? splitAtCommas(String(value)) : value;
    if (!Array.isArray(given)) return refuseType(kind, given, notation);
    if (given.length > maxItems) return refuseValue(kind, given);
    const items: string[] = [];
    for (const each of given) {
      const reading = item.read(each, notation);
      if ('refused' in reading) return reading;
      items.push(reading.value);
    }
    return { value: items };
  }
  return { ...kind, read, toJson: (value) => [...value] };
}

function splitAtCommas(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '');
}

/** Spellings used by shells, compose files and charts; the file itself has TOML's two. */
const TRUE_AND_FALSE = [
  ['true', 'yes', 'on', '1'],
  ['false', 'no', 'off', '0'],
] as const;

export const onOff = defineKind<boolean, unknown>({
  noun: 'a boolean',
  accepted: 'true or false',
  shape: 'switch',
  hasType: (value, form): value is unknown => form === 'text' || typeof value === 'boolean',
  parse: (value) => {
    const spelling = TRUE_AND_FALSE.findIndex((texts) => texts.some((text) => text === String(value).toLowerCase()));
    return spelling === -1 ? undefined : spelling === 0;
  },
});

interface NumberRules extends Partial<Omit<SettingKind<number>, 'read'>> {
  noun: string;
  min: string;
  max: string;
  parse(text: string): number | undefined;
  /** The units, for messages. */
  units?: string;
  /** What the file may hold. */
  inFile: readonly ('bigint' | 'string')[];
}

/** All kinds that are integers in memory. A misspelt bound refuses every value, and the default first of all. */
function numberKind({ min, max, parse, units, inFile, ...rest }: NumberRules): SettingKind<number> {
  const limits = `${min} to ${max}`;
  const [least, most] = [parse(min) ?? Number.NaN, parse(max) ?? Number.NaN];
  return defineKind<number, string | number | bigint>({
    accepted: units === undefined ? limits : `units ${units}; ${limits}`,
    limits,
    ...rest,
    hasType: (value, form): value is string | number | bigint =>
      form === 'toml' ? inFile.some((type) => typeof value === type) : typeof value === NUMBER_TYPES[form],
    parse: (value) => {
      const number = typeof value === 'string' ? parse(value) : Number(value);
      return number !== undefined && Number.isSafeInteger(number) && number >= least && number <= most
        ? number
        : undefined;
    },
  });
}

const NUMBER_TYPES = { text: 'string', option: 'number' };

export function integer(min: number, max: number): SettingKind<number> {
  const bounds = { min: String(min), max: String(max) };
  return numberKind({ name: 'integer', noun: 'a whole number', ...bounds, parse: parseInteger, inFile: ['bigint'] });
}

export const port = numberKind({
  noun: 'a port',
  min: '0',
  max: '65535',
  limits: '',
  parse: parseInteger,
  inFile: ['bigint'],
});

/** The same grammar as in times, with the unit: a bare `30` is ambiguous. Written in the largest unit that divides it: `90000` is `"90s"`. */
export function duration(min: string, max: string): SettingKind<number> {
  return numberKind({
    name: 'duration',
    noun: 'a duration like "30s"',
    min,
    max,
    units: DURATION_UNITS,
    parse: parseDuration,
    inFile: ['string'],
    toJson: durationText,
  });
}

/** `"64MiB"`, `"10MB"` or `"4096"`, ignoring case. A value that no unit divides stays a number. */
export function size(min: string, max: string): SettingKind<number> {
  return numberKind({
    name: 'size',
    noun: 'a size like "64MiB"',
    min,
    max,
    units: 'B, KB, KiB, MB, MiB, GB, GiB, TB, TiB',
    parse: parseSize,
    inFile: ['string', 'bigint'],
    toJson: (bytes) => {
      const [unit, factor] = SIZE_UNITS.find(([, divisor]) => bytes > 0 && bytes % divisor === 0) ?? [];
      return factor === undefined ? bytes : `${bytes / factor}${unit}`;
    },
  });
}

function parseDuration(text: string): number | undefined {
  const reading = readDuration(text);
  return 'durationMs' in reading ? reading.durationMs : undefined;
}

function parseInteger(text: string): number | undefined {
  return /^(?:0|-?[1-9]\d{0,15})$/.test(text) ? Number(text) : undefined;
}

/** A size is written in the first unit that divides it. Binary ones first: buffers and files are mostly powers of two. */
const SIZE_UNITS = ['iB', 'B'].flatMap((suffix) =>
  ['T', 'G', 'M', 'K'].map(
    (prefix, index) => [prefix + suffix, (suffix === 'B' ? 1000 : 1024) ** (4 - index)] as const,
  ),
);

function parseSize(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,16})([a-z]*)$/i.exec(text) ?? [];
  const factor = SIZE_UNITS.find(([name]) => name.toLowerCase() === unit.toLowerCase())?.[1];
  const bytes = Number(digits) * (/^b?$/i.test(unit) ? 1 : (factor ?? Number.NaN));
  return digits !== '' && Number.isSafeInteger(bytes) ? bytes : undefined;
}
