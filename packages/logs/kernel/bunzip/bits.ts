/* A bit reader, highest bit first. Part of ../bunzip.ts. */

/** Position and end, in bits. */
export let at: u32 = 0;
let end: u32 = 0;
/** More bits were requested than are available. */
export let ranOut: bool = false;

export function startBits(from: u32, inputEnd: u32): void {
  at = from;
  end = inputEnd;
  ranOut = false;
}

/** The next bits, at most 32, without taking them. */
export function peek(count: u32): u32 {
  const value = bswap<u64>(load<u64>(at >> 3)) << (<u64>(at & 7));
  return <u32>(value >> <u64>(64 - count));
}

export function skip(count: u32): void {
  at += count;
  if (at > end) ranOut = true;
}

export function bits(count: u32): u32 {
  const value = peek(count);
  skip(count);
  return value;
}
