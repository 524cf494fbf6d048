import type { TomlValue } from 'smol-toml';
import { type Reading, refuseType, type SettingKind, type SettingScalar, toReading } from './setting-kind.ts';

interface Range {
  min: number;
  max: number;
}

interface NumberRules extends Range {
  name: string;
  noun: string;
  accepted: string;
  limits?: string;
  parse(text: string): number | undefined;
  /** Whether the file has an integer, a text or either. */
  toml: 'integer' | 'text' | 'both';
  toJson(value: number): SettingScalar;
}

/** All kinds that are integers in memory. */
function numberKind({
  name,
  noun,
  accepted,
  min,
  max,
  parse,
  toml,
  toJson,
  ...rest
}: NumberRules): SettingKind<number> {
  const wanted = { noun, accepted };
  const within = (value: number | undefined) =>
    value !== undefined && Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined;

  function fromText(text: string): Reading<number> {
    return toReading(wanted, text, within(parse(text)));
  }
  function fromToml(value: TomlValue): Reading<number> {
    if (typeof value === 'bigint' && toml !== 'text') return toReading(wanted, value, within(Number(value)));
    if (typeof value === 'string' && toml !== 'integer') return fromText(value);
    return refuseType(wanted, value);
  }
  function fromOption(value: unknown): Reading<number> {
    return typeof value === 'number' ? toReading(wanted, value, within(value)) : refuseType(wanted, value);
  }
  return { name, ...wanted, ...rest, shape: 'value', fromText, fromToml, fromOption, toJson };
}

export function integer({ min, max }: Range): SettingKind<number> {
  return numberKind({
    name: 'integer',
    noun: 'a whole number',
    accepted: `${min} to ${max}`,
    limits: `${min} to ${max}`,
    min,
    max,
    parse: parseInteger,
    toml: 'integer',
    toJson: (value) => value,
  });
}

export function port(): SettingKind<number> {
  return numberKind({
    name: 'port',
    noun: 'a port',
    accepted: '0 to 65535',
    min: 0,
    max: 65_535,
    parse: parseInteger,
    toml: 'integer',
    toJson: (value) => value,
  });
}

export function duration({ min, max }: { min: string; max: string }): SettingKind<number> {
  return numberKind({
    name: 'duration',
    noun: 'a duration like "30s"',
    accepted: `units ms, s, m, h, d; ${min} to ${max}`,
    limits: `${min} to ${max}`,
    min: bound(parseDuration(min)),
    max: bound(parseDuration(max)),
    parse: parseDuration,
    toml: 'text',
    toJson: formatDuration,
  });
}

export function size({ min, max }: { min: string; max: string }): SettingKind<number> {
  return numberKind({
    name: 'size',
    noun: 'a size like "64MiB"',
    accepted: `units B, KB, KiB, MB, MiB, GB, GiB, TB, TiB; ${min} to ${max}`,
    limits: `${min} to ${max}`,
    min: bound(parseSize(min)),
    max: bound(parseSize(max)),
    parse: parseSize,
    toml: 'both',
    toJson: formatSize,
  });
}

function parseInteger(text: string): number | undefined {
  return /^(?:0|-?[1-9]\d{0,15})$/.test(text) ? Number(text) : undefined;
}

function bound(value: number | undefined): number {
  if (value === undefined) throw new TypeError('a bound of the definitions table is misspelt');
  return value;
}

interface Unit {
  name: string;
  factor: number;
}

/** Largest first: a value is written in the first unit that divides it. */
const DURATION_UNITS: readonly Unit[] = [
  { name: 'd', factor: 86_400_000 },
  { name: 'h', factor: 3_600_000 },
  { name: 'm', factor: 60_000 },
  { name: 's', factor: 1000 },
  { name: 'ms', factor: 1 },
];

/** Binary units first: sizes of buffers and files are mostly powers of two. */
const SIZE_UNITS: readonly Unit[] = [
  { name: 'TiB', factor: 1024 ** 4 },
  { name: 'GiB', factor: 1024 ** 3 },
  { name: 'MiB', factor: 1024 ** 2 },
  { name: 'KiB', factor: 1024 },
  { name: 'TB', factor: 1000 ** 4 },
  { name: 'GB', factor: 1000 ** 3 },
  { name: 'MB', factor: 1000 ** 2 },
  { name: 'KB', factor: 1000 },
  { name: 'B', factor: 1 },
];

/** `"30s"` in milliseconds. The unit is required: a bare `30` is ambiguous. */
function parseDuration(text: string): number | undefined {
  return parseUnits(text, DURATION_UNITS);
}

/** The shortest exact spelling: `90000` is `"90s"`. */
function formatDuration(ms: number): string {
  return ms === 0 ? '0s' : formatUnits(ms, DURATION_UNITS);
}

/** `"64MiB"`, `"10MB"` or `"4096"` in bytes, ignoring case. */
function parseSize(text: string): number | undefined {
  return parseUnits(/^\d+$/.test(text) ? `${text}B` : text, SIZE_UNITS);
}

/** The shortest exact spelling; a value that no unit divides stays a number. */
function formatSize(bytes: number): string | number {
  const text = formatUnits(bytes, SIZE_UNITS);
  return bytes === 0 || /\dB$/.test(text) ? bytes : text;
}

function parseUnits(text: string, units: readonly Unit[]): number | undefined {
  const [, digits = '', name = ''] = /^(\d{1,16})([a-z]+)$/i.exec(text) ?? [];
  const unit = units.find((known) => known.name.toLowerCase() === name.toLowerCase());
  if (unit === undefined) return undefined;
  const value = Number(digits) * unit.factor;
  return Number.isSafeInteger(value) ? value : undefined;
}

function formatUnits(value: number, units: readonly Unit[]): string {
  const unit = units.find(({ factor }) => value % factor === 0);
  return unit === undefined ? String(value) : `${value / unit.factor}${unit.name}`;
}
