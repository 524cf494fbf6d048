/* Decoding symbols in the middle of the input. Part of ../inflate.ts. */
import { DISTANCE_BITS, DISTANCES, LITERAL, LITERAL_BITS, LITERALS, SECOND, SPECIAL } from './codes';
import { BAD_DISTANCE, BAD_SYMBOL, DONE, FULL, moveTo, NEEDS_INPUT, next, oldest, out, putOut, used } from './state';

/** Decodes symbols while there is more input than one step can consume. Everything is held in locals for speed. */
export function inflateFast(end: u32, limit: u32): i32 {
  const safe = end - 16;
  const reach = oldest;
  let at = next;
  let to = out;
  let buffer: u64 = 0;
  let held: u32 = 0;
  let result = FULL;
  if (used !== 0) {
    buffer = <u64>load<u8>(at++) >> used;
    held = 8 - used;
  }
  while (to < limit) {
    if (at > safe) {
      result = NEEDS_INPUT;
      break;
    }
    // At least 56 bits: three literal lookups, or a match (48).
    buffer |= load<u64>(at) << held;
    at += (63 - held) >> 3;
    held |= 56;
    let entry = load<u32>(LITERALS + ((<u32>buffer & ((1 << LITERAL_BITS) - 1)) << 2));
    if ((entry & LITERAL) !== 0) {
      store<u16>(to, <u16>(entry >> 16));
      to += 1 + ((entry >> 7) & 1);
      buffer >>= <u64>entry;
      held -= entry & 63;
      entry = load<u32>(LITERALS + ((<u32>buffer & ((1 << LITERAL_BITS) - 1)) << 2));
      if ((entry & LITERAL) !== 0) {
        store<u16>(to, <u16>(entry >> 16));
        to += 1 + ((entry >> 7) & 1);
        buffer >>= <u64>entry;
        held -= entry & 63;
        entry = load<u32>(LITERALS + ((<u32>buffer & ((1 << LITERAL_BITS) - 1)) << 2));
        if ((entry & LITERAL) !== 0) {
          store<u16>(to, <u16>(entry >> 16));
          to += 1 + ((entry >> 7) & 1);
          buffer >>= <u64>entry;
          held -= entry & 63;
          continue;
        }
      }
      buffer |= load<u64>(at) << held;
      at += (63 - held) >> 3;
      held |= 56;
    }
    if ((entry & SPECIAL) !== 0) {
      if ((entry & SECOND) !== 0) entry = second(LITERALS, LITERAL_BITS, entry, buffer);
      if ((entry & LITERAL) !== 0) {
        store<u8>(to++, <u8>(entry >> 16));
        buffer >>= <u64>entry;
        held -= entry & 63;
        continue;
      }
      if ((entry & SPECIAL) !== 0) {
        result = entry >> 16 === 0 ? DONE : BAD_SYMBOL;
        buffer >>= <u64>entry;
        held -= entry & 63;
        break;
      }
    }
    const length = (entry >> 16) + extraBits(buffer, entry);
    buffer >>= <u64>entry;
    held -= entry & 63;
    entry = load<u32>(DISTANCES + ((<u32>buffer & ((1 << DISTANCE_BITS) - 1)) << 2));
    if ((entry & SECOND) !== 0) entry = second(DISTANCES, DISTANCE_BITS, entry, buffer);
    if ((entry & SPECIAL) !== 0) {
      result = BAD_SYMBOL;
      break;
    }
    const distance = (entry >> 16) + extraBits(buffer, entry);
    buffer >>= <u64>entry;
    held -= entry & 63;
    let from = to - distance;
    if (from < reach) {
      result = BAD_DISTANCE;
      break;
    }
    const stop = to + length;
    if (distance >= 16) {
      do {
        v128.store(to, v128.load(from));
        from += 16;
        to += 16;
      } while (to < stop);
    } else if (distance === 1) {
      const same = i8x16.splat(load<u8>(from));
      do {
        v128.store(to, same);
        to += 16;
      } while (to < stop);
    } else {
      // Only as many bytes as lie between source and target are valid yet.
      do {
        v128.store(to, v128.load(from));
        from += distance;
        to += distance;
      } while (to < stop);
    }
    to = stop;
  }
  moveTo(at, held);
  putOut(to);
  return result;
}

export function second(table: u32, width: u32, pointer: u32, buffer: u64): u32 {
  const index = <u32>(buffer >> width) & ((1 << (pointer & 63)) - 1);
  return load<u32>(table + (((pointer >> 16) + index) << 2));
}

export function extraBits(buffer: u64, entry: u32): u32 {
  return <u32>((buffer & (((<u64>1) << (<u64>entry)) - 1)) >> <u64>(entry >> 8));
}
