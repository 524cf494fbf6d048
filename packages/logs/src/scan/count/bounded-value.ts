import { textHash } from './text-hash.ts';

/** Longer values are cut. */
export const MAX_VALUE_LENGTH = 256;

/** Separates what is shown of a long value from the hash of all of it. */
const SEPARATOR = '…\0';

/** Halves of a pair of surrogates: they have no UTF-8, in which values are sent between threads. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * What a value is identified by: itself, or if it is long, its start and a hash of 64 bits. So a table of values has a
 * limit in bytes, whatever is logged.
 */
export function boundedValue(text: string, maxLength: number = MAX_VALUE_LENGTH): string {
  const value = LONE_SURROGATE.test(text) ? Buffer.from(text).toString() : text;
  if (value.length <= maxLength) return value;
  const hash = [1, 2].map((seed) => textHash(value, seed).toString(36)).join('.');
  return `${cutValue(value, maxLength)}${SEPARATOR}${hash}`;
}

/** What is shown of it: a long value is cut and ends in `…`. */
export function shownValue(bounded: string, maxLength: number = MAX_VALUE_LENGTH): string {
  return bounded.length <= maxLength ? bounded : bounded.slice(0, bounded.lastIndexOf(SEPARATOR) + 1);
}

/** No pair of surrogates is cut in two. */
function cutValue(value: string, maxLength: number): string {
  const end = maxLength - 1;
  const isPair = (value.codePointAt(end - 1) ?? 0) > 0xffff;
  return value.slice(0, isPair ? end - 1 : end);
}
