/*
 * Compresses in the format of LZ4. Greedy: four bytes are looked for where they were last. Rows repeat so much that
 * matches are long, and what is between them is copied 16 bytes at a time.
 */

const HASH_BITS: u32 = 14;
const HASH_FACTOR: u32 = 2654435761;

const MIN_MATCH: u32 = 4;
const MAX_DISTANCE: u32 = 65535;
/** The last bytes of a block are literals, and no match starts shortly before them. */
const LAST_LITERALS: u32 = 5;
const LAST_MATCH: u32 = 12;
/** Where nothing repeats, steps get longer after so many of them. */
const SKIP_BITS: u32 = 6;

/** Where the next byte is written. */
let to: u32 = 0;

/** Where the bytes that were found have been before. */
let found: u32 = 0;

/** Where four bytes were last, by their hash. */
let table: u32 = 0;

/** Compresses `length` bytes at `input` to `output`; returns where that ends. `lastSeen` is memory of `HASH_BITS`. */
export function compress(input: u32, length: u32, output: u32, lastSeen: u32, lastSeenBytes: u32): u32 {
  const end = input + length;
  to = output;
  table = lastSeen;
  let anchor = input;
  if (length > LAST_MATCH) {
    memory.fill(table, 0, lastSeenBytes);
    const limit = end - LAST_MATCH;
    let at = findMatch(input, limit);
    while (at < limit) {
      let candidate = found;
      while (at > anchor && candidate > input && load<u8>(at - 1) === load<u8>(candidate - 1)) {
        at--;
        candidate--;
      }
      const matchEnd = endOfMatch(at + MIN_MATCH, candidate + MIN_MATCH, end - LAST_LITERALS);
      putSequence(anchor, at, at - candidate, matchEnd - at - MIN_MATCH);
      anchor = matchEnd;
      if (anchor >= limit) break;
      store<u32>(slotOf(load<u32>(anchor - 2)), anchor - 2);
      at = findMatch(anchor, limit);
    }
  }
  putLiterals(anchor, end);
  return to;
}

/** The next position whose four bytes have been before; `limit` or more if there is none. */
function findMatch(from: u32, limit: u32): u32 {
  let at = from;
  for (let tries: u32 = 1 << SKIP_BITS; at < limit; tries++) {
    const bytes = load<u32>(at);
    const slot = slotOf(bytes);
    found = load<u32>(slot);
    store<u32>(slot, at);
    if (found !== 0 && at - found <= MAX_DISTANCE && load<u32>(found) === bytes) return at;
    at += tries >>> SKIP_BITS;
  }
  return limit;
}

function slotOf(bytes: u32): u32 {
  return table + (((bytes * HASH_FACTOR) >>> (32 - HASH_BITS)) << 2);
}

function endOfMatch(from: u32, earlier: u32, limit: u32): u32 {
  let at = from;
  let before = earlier;
  while (at + 8 <= limit) {
    const difference = load<u64>(at) ^ load<u64>(before);
    if (difference !== 0) return at + <u32>(ctz(difference) >> 3);
    at += 8;
    before += 8;
  }
  while (at < limit && load<u8>(at) === load<u8>(before)) {
    at++;
    before++;
  }
  return at;
}

/** Literals, and a match behind them; `extra`: of its length beyond the least. */
function putSequence(from: u32, end: u32, distance: u32, extra: u32): void {
  const token = to;
  putLiterals(from, end);
  store<u16>(to, <u16>distance);
  to += 2;
  store<u8>(token, load<u8>(token) | <u8>min<u32>(extra, 15));
  if (extra >= 15) putLength(extra - 15);
}

function putLiterals(from: u32, end: u32): void {
  const length = end - from;
  store<u8>(to, <u8>(min<u32>(length, 15) << 4));
  to++;
  if (length >= 15) putLength(length - 15);
  for (let at: u32 = 0; at < length; at += 16) v128.store(to + at, v128.load(from + at));
  to += length;
}

function putLength(length: u32): void {
  let rest = length;
  for (; rest >= 255; rest -= 255) store<u8>(to++, 255);
  store<u8>(to++, <u8>rest);
}
