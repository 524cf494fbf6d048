import type { FieldType } from '../types.ts';

/** A decimal number of any length, exactly: `sign * 0.digits * 10 ** exponent`, digits without zeros at its ends. */
interface Decimal {
  sign: -1 | 0 | 1;
  digits: string;
  exponent: number;
}

const ZERO: Decimal = { sign: 0, digits: '', exponent: 0 };

const PLAIN = /^(-?)(\d+)(?:\.(\d+))?$/;
/** Larger exponents are no quantities of anything, and would not be exact here. */
const SCIENTIFIC = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d{1,9})$/;

/** `13`, `-0.50`, `013`. */
function parsePlainDecimal(text: string): Decimal | undefined {
  const [whole, sign = '', integer = '', fraction = ''] = PLAIN.exec(text) ?? [];
  return whole === undefined ? undefined : makeDecimal(sign, integer, fraction);
}

/** Also with an exponent: `1.5e3`. */
function parseDecimal(text: string): Decimal | undefined {
  const [whole, sign = '', integer = '', fraction = '', exponent = ''] = SCIENTIFIC.exec(text) ?? [];
  if (whole === undefined) return parsePlainDecimal(text);
  const decimal = makeDecimal(sign, integer, fraction);
  return decimal.sign === 0 ? decimal : { ...decimal, exponent: decimal.exponent + Number(exponent) };
}

function makeDecimal(sign: string, integer: string, fraction: string): Decimal {
  const digits = integer + fraction;
  const start = digits.search(/[1-9]/);
  if (start < 0) return ZERO;
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return { sign: sign === '-' ? -1 : 1, digits: digits.slice(start, end), exponent: integer.length - start };
}

/** Negative if the first is smaller, 0 if both are equal. */
function compareDecimals(one: Decimal, other: Decimal): number {
  if (one.sign !== other.sign) return one.sign - other.sign;
  if (one.sign === 0) return 0;
  return one.sign * compareSizes(one, other);
}

function compareSizes(one: Decimal, other: Decimal): number {
  if (one.exponent !== other.exponent) return one.exponent - other.exponent;
  // Both start right after the point, so that digits order like letters, and a missing one is smaller.
  if (one.digits === other.digits) return 0;
  return one.digits < other.digits ? -1 : 1;
}

function negateDecimal(decimal: Decimal): Decimal {
  return decimal.sign === 0 ? decimal : { ...decimal, sign: decimal.sign === 1 ? -1 : 1 };
}

/** By a positive factor. */
function multiplyDecimal(decimal: Decimal, factor: bigint): Decimal {
  if (decimal.sign === 0) return decimal;
  const scale = decimal.digits.length - decimal.exponent;
  return fromScaled(decimal.sign === -1, BigInt(decimal.digits) * factor, scale);
}

function addDecimals(one: Decimal, other: Decimal): Decimal {
  const [scaleOne, scaleOther] = [scaleOf(one), scaleOf(other)];
  const scale = Math.max(scaleOne, scaleOther, 0);
  const sum = toScaled(one, scale) + toScaled(other, scale);
  return fromScaled(sum < 0n, sum < 0n ? -sum : sum, scale);
}

function scaleOf({ digits, exponent }: Decimal): number {
  return digits.length - exponent;
}

function toScaled(decimal: Decimal, scale: number): bigint {
  if (decimal.sign === 0) return 0n;
  const size = BigInt(decimal.digits) * 10n ** BigInt(scale - scaleOf(decimal));
  return decimal.sign === -1 ? -size : size;
}

/** `value / 10 ** scale`. */
function fromScaled(isNegative: boolean, value: bigint, scale: number): Decimal {
  const digits = value.toString();
  const decimal = makeDecimal(isNegative ? '-' : '', digits, '');
  return decimal.sign === 0 ? decimal : { ...decimal, exponent: decimal.exponent - scale };
}

/** What compares by value: a number, a duration in nanoseconds or a size in bytes. */
export interface Quantity {
  kind: 'number' | 'duration' | 'size';
  value: Decimal;
}

/** Units of durations, case-sensitive: `M` is no minute. Both signs for micro exist. */
const DURATION_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
};

/** As in the settings: powers of 1000 and of 1024. In lower case: sizes ignore it. */
const SIZE_BYTES: Readonly<Record<string, bigint>> = {
  b: 1n,
  kb: 10n ** 3n,
  mb: 10n ** 6n,
  gb: 10n ** 9n,
  tb: 10n ** 12n,
  kib: 2n ** 10n,
  mib: 2n ** 20n,
  gib: 2n ** 30n,
  tib: 2n ** 40n,
};

/** The units that comparisons understand, for messages and documentation. */
export const QUANTITY_UNITS = {
  durations: ['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'd'],
  sizes: ['B', 'KB', 'MB', 'GB', 'TB', 'KiB', 'MiB', 'GiB', 'TiB'],
} as const;

interface NameUnit {
  kind: 'duration' | 'size';
  factor: bigint;
}

/** Words at the end of a field's name that name the unit of its numbers, in lower case. */
const NAME_UNITS: Readonly<Record<string, NameUnit>> = Object.fromEntries([
  ...nameUnits('duration', 1n, ['ns', 'nanos', 'nanoseconds']),
  ...nameUnits('duration', 1000n, ['us', 'micros', 'microseconds']),
  ...nameUnits('duration', 1_000_000n, ['ms', 'msec', 'millis', 'milliseconds']),
  ...nameUnits('duration', 1_000_000_000n, ['s', 'sec', 'secs', 'seconds']),
  ...nameUnits('duration', 60_000_000_000n, ['min', 'mins', 'minutes']),
  ...nameUnits('duration', 3_600_000_000_000n, ['hours']),
  ...nameUnits('duration', 86_400_000_000_000n, ['days']),
  ...nameUnits('size', 1n, ['bytes']),
  ...Object.entries(SIZE_BYTES)
    .filter(([unit]) => unit !== 'b')
    .flatMap(([unit, factor]) => nameUnits('size', factor, [unit])),
]);

function nameUnits(kind: NameUnit['kind'], factor: bigint, words: readonly string[]): [string, NameUnit][] {
  return words.map((word) => [word, { kind, factor }]);
}

/** Longer texts are not taken for durations or sizes: multiplying digits takes more than linear time. */
const MAX_UNIT_TEXT = 64;

const DURATION = /^-?(?:\d+(?:\.\d+)? ?(?:ns|us|µs|μs|ms|s|m|h|d))+$/;
const DURATION_PART = /(\d+(?:\.\d+)?) ?([a-zµμ]+)/g;
const SIZE = /^(-?\d+(?:\.\d+)?) ?([kmgt]?i?b)$/i;

/** A number, a duration (`523.4ms`, `1h30m`) or a size (`10KB`, `1.5 MiB`); `undefined` if the text is none. */
export function parseQuantity(text: string): Quantity | undefined {
  const last = text.charCodeAt(text.length - 1);
  if (last >= 48 && last <= 57) {
    const value = parseDecimal(text);
    return value && { kind: 'number', value };
  }
  return text.length > MAX_UNIT_TEXT ? undefined : (parseDuration(text) ?? parseSize(text));
}

function parseDuration(text: string): Quantity | undefined {
  if (!DURATION.test(text)) return undefined;
  let total: Decimal = { sign: 0, digits: '', exponent: 0 };
  for (const [, number = '', unit = ''] of text.matchAll(DURATION_PART)) {
    const part = parsePlainDecimal(number);
    if (part) total = addDecimals(total, multiplyDecimal(part, DURATION_NS[unit] ?? 1n));
  }
  return { kind: 'duration', value: text.startsWith('-') ? negateDecimal(total) : total };
}

function parseSize(text: string): Quantity | undefined {
  const [, number = '', unit = ''] = SIZE.exec(text) ?? [];
  const factor = SIZE_BYTES[unit.toLowerCase()];
  const value = parsePlainDecimal(number);
  return factor !== undefined && value ? { kind: 'size', value: multiplyDecimal(value, factor) } : undefined;
}

/**
 * Whether texts of a field are equal to a literal as quantities of one kind; a number without unit as for
 * `quantityOrder`. Numbers with an exponent are not: they compare as text.
 */
export function quantityEquals(literal: string, field: string): ((text: string) => boolean) | undefined {
  if (!parseEqual(literal)) return undefined;
  const order = quantityOrder(literal, field);
  return order && ((text) => (isExactNumber(text) || parseEqual(text) !== undefined) && order(text) === 0);
}

function parseEqual(text: string): Quantity | undefined {
  const first = text.charCodeAt(0);
  if (first !== 45 && !(first >= 48 && first <= 57)) return undefined;
  const value = parsePlainDecimal(text);
  if (value) return { kind: 'number', value };
  const quantity = parseQuantity(text);
  return quantity?.kind === 'number' ? undefined : quantity;
}

/**
 * Compares texts of a field with a literal: negative if a text is less, `undefined` if they do not compare. A number
 * without unit compares with a duration or size only if the field's name has its unit: `elapsed_ms`, `sizeBytes`.
 */
export function quantityOrder(literal: string, field: string): ((text: string) => number | undefined) | undefined {
  const wanted = parseQuantity(literal);
  if (!wanted) return undefined;
  const unit = nameUnit(field);
  const fits = unit?.kind === wanted.kind ? unit : undefined;
  const fast = wanted.kind === 'number' && isExactNumber(literal) ? Number(literal) : undefined;
  return (text) => {
    if (fast !== undefined && isExactNumber(text)) return Number(text) - fast;
    const found = parseQuantity(text);
    if (!found) return undefined;
    if (found.kind === wanted.kind) return compareDecimals(found.value, wanted.value);
    if (found.kind !== 'number' || !fits || text.length > MAX_UNIT_TEXT) return undefined;
    return compareDecimals(multiplyDecimal(found.value, fits.factor), wanted.value);
  };
}

/** Up to 15 digits, different decimals are different numbers in the same order. */
function isExactNumber(text: string): boolean {
  return text.length <= 15 && /^-?\d+(?:\.\d+)?$/.test(text);
}

/** The unit that the last word of a field's name stands for: `_ms`, `.ms`, `Ms`, or the whole name, but not `s` alone. */
function nameUnit(field: string): NameUnit | undefined {
  const [, before, word = ''] = /(^|[^A-Za-z])([A-Za-z]+)$/.exec(field) ?? [];
  if (before !== undefined && (before !== '' || word !== 's')) return unitOfWord(word) ?? camelUnit(field);
  return camelUnit(field);
}

function camelUnit(field: string): NameUnit | undefined {
  const [, word = ''] = /[a-z0-9]([A-Z][a-z]+|[KMGT]B)$/.exec(field) ?? /[a-z0-9]([KMGT]iB)$/.exec(field) ?? [];
  return unitOfWord(word);
}

function unitOfWord(word: string): NameUnit | undefined {
  const name = word.toLowerCase();
  return Object.hasOwn(NAME_UNITS, name) ? NAME_UNITS[name] : undefined;
}

/** What a value of a field looks like. */
export function valueType(text: string, field?: string): FieldType {
  if (field === 'level') return 'level';
  const first = text.charCodeAt(0);
  if (first === 45 || (first >= 48 && first <= 57)) return parseQuantity(text)?.kind ?? 'text';
  return text === 'true' || text === 'false' ? 'boolean' : 'text';
}
