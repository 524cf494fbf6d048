/**
 * How much of each there is room for: small ones stay whole, and what is left is shared evenly by the larger ones, so
 * that one that talks too much does not take the room of all others.
 */
export function fitSizes(sizes: readonly number[], room: number): number[] {
  let remaining = Math.max(0, room);
  let others = sizes.length;
  let level = Number.POSITIVE_INFINITY;
  for (const size of [...sizes].sort((a, b) => a - b)) {
    const share = Math.floor(remaining / others);
    if (size > share) {
      level = share;
      break;
    }
    remaining -= size;
    others--;
  }
  return sizes.map((size) => Math.min(size, level));
}
