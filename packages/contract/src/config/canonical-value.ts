import type { SettingJson } from '../node-state.ts';

/** Go durations: `1h0m10s`, and PostgreSQL's `5min`. Case-sensitive: `10M` is not a duration. */
const DURATION_NS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  min: 60e9,
  h: 3600e9,
  d: 86_400e9,
  w: 604_800e9,
};

const DURATION = /^([+-]?)((?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|min|s|m|h|d|w))+)$/;
const DURATION_PART = /(\d+(?:\.\d+)?)([a-zµμ]+)/g;

/** Only unambiguous units: whether a `GB` has 1000 or 1024 `MB` depends on the program. */
const SIZE_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
};

/**
 * `64MB` and `65536kB` are equal only where a MB has 1024 kB, but whoever writes the second counts that way. They are
 * compared with each other alone, not with `64MiB` or a number of bytes.
 */
const LOOSE_SIZE = /^(\d+(?:\.\d+)?)\s*([kmgtp])b$/i;
const LOOSE_UNITS = 'kmgtp';

const SIZE = /^(\d+(?:\.\d+)?)\s*([kmgt]ib|b)$/i;

/** Without leading zeros, which occur in names but not in numbers. */
const NUMBER = /^[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Digits a double represents exactly; longer numbers are compared as text. */
const EXACT_DIGITS = 15;

/**
 * Normalizes a value, so that equivalent spellings are equal. In doubt values differ: a false difference costs a glance, a
 * hidden one an outage.
 */
export function canonicalValue(value: SettingJson): string {
  if (typeof value === 'string') return canonicalText(value);
  if (typeof value === 'number') return `number ${value}`;
  if (typeof value === 'boolean') return `boolean ${value}`;
  if (Array.isArray(value)) return `[${value.map((element) => JSON.stringify(canonicalValue(element))).join(',')}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, inner]) => `${JSON.stringify(name)}:${JSON.stringify(canonicalValue(inner))}`).join(',')}}`;
}

function canonicalText(text: string): string {
  const trimmed = text.trim();
  if (/^(?:true|false)$/i.test(trimmed)) return `boolean ${trimmed.toLowerCase()}`;
  if (NUMBER.test(trimmed) && trimmed.replace(/\D/g, '').length <= EXACT_DIGITS) return `number ${Number(trimmed)}`;
  const bytes = parseBytes(trimmed);
  // A size without unit is in bytes.
  if (bytes !== undefined) return `number ${bytes}`;
  const [, amount, unit = ''] = LOOSE_SIZE.exec(trimmed) ?? [];
  if (amount !== undefined) return `size ${Number(amount) * 1024 ** (LOOSE_UNITS.indexOf(unit.toLowerCase()) + 1)}`;
  const ns = parseNanoseconds(trimmed);
  if (ns !== undefined) return `duration ${ns}`;
  return `text ${text}`;
}

function parseBytes(text: string): number | undefined {
  const [, amount, unit = ''] = SIZE.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (SIZE_BYTES[unit.toLowerCase()] ?? Number.NaN);
}

function parseNanoseconds(text: string): number | undefined {
  const [, sign, parts] = DURATION.exec(text) ?? [];
  if (parts === undefined) return undefined;
  let sum = 0;
  for (const [, amount, unit = ''] of parts.matchAll(DURATION_PART)) sum += Number(amount) * (DURATION_NS[unit] ?? 0);
  // Fractions like 0.1s have no exact double, whole nanoseconds do.
  return (sign === '-' && sum > 0 ? -1 : 1) * Math.round(sum);
}
