import type { TomlValue } from 'smol-toml';
import { type Reading, refuseType, type SettingKind, type SettingScalar, toReading } from './setting-kind.ts';
import { formatDuration, formatSize, parseDuration, parseSize } from './units.ts';

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
  /** What the file may hold beside or instead of the text. */
  toml: 'integer' | 'text' | 'both';
  toJson(value: number): SettingScalar;
}

/** Every kind that is a whole number in memory. */
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
