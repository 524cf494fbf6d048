/* Bit streams of zstd, which are read backwards from their last bit (RFC 8878, 4.1). Part of ../zstd.ts. */

/** Where the stream begins, and how many bits of it are left; negative if more were taken. */
export let base: u32 = 0;
export let left: i32 = 0;

/** False if the last byte lacks the bit that marks the end. */
export function startBackward(from: u32, end: u32): bool {
  if (end <= from) return false;
  const last = <u32>load<u8>(end - 1);
  if (last === 0) return false;
  base = from;
  left = <i32>((end - from - 1) * 8 + highBit(last));
  return true;
}

export function highBit(value: u32): u32 {
  return 31 - clz(value);
}

/** The next bits, at most 32, without taking them. Bits before the begin are 0. */
export function peek(count: u32): u32 {
  const at = left - <i32>count;
  const mask = ((<u64>1) << count) - 1;
  if (at >= 0) return <u32>((load<u64>(base + (<u32>at >> 3)) >> (<u64>at & 7)) & mask);
  return at > -64 ? <u32>((load<u64>(base) << (<u64>-at)) & mask) : 0;
}

export function skip(count: u32): void {
  left -= <i32>count;
}

export function take(count: u32): u32 {
  const value = peek(count);
  left -= <i32>count;
  return value;
}
