/**
 * Distributes the available room: small files stay complete, and larger ones share the rest evenly, so that one large log
 * does not displace all others.
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
