/* A slow, careful bit reader for block headers and the end of the input. Part of ../inflate.ts. */

export let at: u32 = 0;
export let bits: u64 = 0;
export let count: u32 = 0;
/** More bits were requested than are available; bits taken since then read as 0. */
export let ranOut: bool = false;

/** Starts at the byte `from`, of which some bits are already consumed. */
export function startBits(from: u32, used: u32): void {
  at = from;
  bits = 0;
  count = 0;
  ranOut = false;
  if (used === 0) return;
  bits = <u64>load<u8>(at++) >> used;
  count = 8 - used;
}

/** At least 56 bits, or all that are left. */
export function fillBits(end: u32): void {
  while (count <= 56 && at < end) {
    bits |= (<u64>load<u8>(at++)) << count;
    count += 8;
  }
}

export function take(wanted: u32, end: u32): u32 {
  if (count < wanted) fillBits(end);
  if (count < wanted) {
    ranOut = true;
    return 0;
  }
  const value = <u32>bits & ((1 << wanted) - 1);
  bits >>= wanted;
  count -= wanted;
  return value;
}
