/** A decimal number of any length, exactly: `sign * 0.digits * 10 ** exponent`, digits without zeros at its ends. */
export interface Decimal {
  sign: -1 | 0 | 1;
  digits: string;
  exponent: number;
}

const ZERO: Decimal = { sign: 0, digits: '', exponent: 0 };

const PLAIN = /^(-?)(\d+)(?:\.(\d+))?$/;
/** Larger exponents are no quantities of anything, and would not be exact here. */
const SCIENTIFIC = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d{1,9})$/;

/** `13`, `-0.50`, `013`. */
export function parsePlainDecimal(text: string): Decimal | undefined {
  const [whole, sign = '', integer = '', fraction = ''] = PLAIN.exec(text) ?? [];
  return whole === undefined ? undefined : makeDecimal(sign, integer, fraction);
}

/** Also with an exponent: `1.5e3`. */
export function parseDecimal(text: string): Decimal | undefined {
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
export function compareDecimals(one: Decimal, other: Decimal): number {
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

export function negateDecimal(decimal: Decimal): Decimal {
  return decimal.sign === 0 ? decimal : { ...decimal, sign: decimal.sign === 1 ? -1 : 1 };
}

/** By a positive factor. */
export function multiplyDecimal(decimal: Decimal, factor: bigint): Decimal {
  if (decimal.sign === 0) return decimal;
  const scale = decimal.digits.length - decimal.exponent;
  return fromScaled(decimal.sign === -1, BigInt(decimal.digits) * factor, scale);
}

export function addDecimals(one: Decimal, other: Decimal): Decimal {
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
