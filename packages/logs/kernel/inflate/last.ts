/* Decodes the last symbols of the input, one at a time and never beyond its end. Part of ../inflate.ts. */
import { at, bits, count, fillBits, startBits, take } from './bits';
import { DISTANCE_BITS, DISTANCES, LITERAL, LITERAL_BITS, LITERALS, SECOND, SPECIAL, TWO } from './codes';
import { extraBits, second } from './fast';
import { BAD_DISTANCE, BAD_SYMBOL, DONE, FULL, moveTo, NEEDS_INPUT, next, oldest, out, putOut, used } from './state';

/** Decodes all symbols that are complete. An entry found with bits beyond the end is longer than the bits available. */
export function inflateLast(end: u32, limit: u32): i32 {
  startBits(next, used);
  let result = FULL;
  while (out < limit) {
    result = oneSymbol(end);
    if (result !== FULL) break;
  }
  moveTo(at, count);
  return result;
}

/** Returns FULL after one more symbol. */
function oneSymbol(end: u32): i32 {
  fillBits(end);
  let entry = load<u32>(LITERALS + ((<u32>bits & ((1 << LITERAL_BITS) - 1)) << 2));
  if ((entry & SECOND) !== 0) entry = second(LITERALS, LITERAL_BITS, entry, bits);
  if ((entry & LITERAL) !== 0) {
    const taken = (entry & TWO) !== 0 ? (entry >> 8) & 63 : entry & 63;
    if (taken > count) return NEEDS_INPUT;
    take(taken, end);
    store<u8>(out, <u8>(entry >> 16));
    putOut(out + 1);
    return FULL;
  }
  if ((entry & 63) > count) return NEEDS_INPUT;
  if ((entry & SPECIAL) !== 0) {
    take(entry & 63, end);
    return entry >> 16 === 0 ? DONE : BAD_SYMBOL;
  }
  const length = (entry >> 16) + extraBits(bits, entry);
  const behind = bits >> <u64>entry;
  let far = load<u32>(DISTANCES + ((<u32>behind & ((1 << DISTANCE_BITS) - 1)) << 2));
  if ((far & SECOND) !== 0) far = second(DISTANCES, DISTANCE_BITS, far, behind);
  if ((entry & 63) + (far & 63) > count) return NEEDS_INPUT;
  if ((far & SPECIAL) !== 0) return BAD_SYMBOL;
  const from = out - (far >> 16) - extraBits(behind, far);
  if (from < oldest) return BAD_DISTANCE;
  take((entry & 63) + (far & 63), end);
  for (let i: u32 = 0; i < length; i++) store<u8>(out + i, load<u8>(from + i));
  putOut(out + length);
  return FULL;
}
