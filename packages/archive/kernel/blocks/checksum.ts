/*
 * The checksum of ClickHouse's blocks: CityHash of 128 bits in its version 1.0.2. Later versions give other results.
 * A block is never shorter than 8 bytes.
 */

const K0: u64 = (0xc3a5c85c << 32) | 0x97cb3127;
const K1: u64 = (0xb492b66f << 32) | 0xbe98f273;
const K2: u64 = (0x9ae16a3b << 32) | 0x2f90404f;
const K3: u64 = (0xc949d7c7 << 32) | 0x509e6557;
const PAIR_FACTOR: u64 = (0x9ddfea08 << 32) | 0xeb382d69;

/** The state of long inputs: three words and two pairs. */
let x: u64 = 0;
let y: u64 = 0;
let z: u64 = 0;
let v0: u64 = 0;
let v1: u64 = 0;
let w0: u64 = 0;
let w1: u64 = 0;

/** Writes the checksum of `length` bytes at `from`, at least 8, to `to`: 16 bytes. */
export function checksum(from: u32, length: u32, to: u32): void {
  if (length < 16) {
    hashShort(from, 0, load<u64>(from) ^ (<u64>length * K0), load<u64>(from + length - 8) ^ K1, to);
    return;
  }
  const first = load<u64>(from) ^ K3;
  const second = load<u64>(from, 8);
  if (length - 16 < 128) hashShort(from + 16, length - 16, first, second, to);
  else hashLong(from + 16, length - 16, first, second, to);
}

function hashLong(from: u32, length: u32, first: u64, second: u64, to: u32): void {
  x = first;
  y = second;
  z = <u64>length * K1;
  v0 = rotr<u64>(y ^ K1, 49) * K1 + load<u64>(from);
  v1 = rotr<u64>(v0, 42) * K1 + load<u64>(from, 8);
  w0 = rotr<u64>(y + z, 35) * K1 + x;
  w1 = rotr<u64>(x + load<u64>(from, 88), 53) * K1;
  let at = from;
  let rest = length;
  for (; rest >= 128; rest -= 128) {
    mix64(at);
    mix64(at + 64);
    at += 128;
  }
  y += rotr<u64>(w0, 37) * K0 + z;
  x += rotr<u64>(v0 + z, 49) * K0;
  // From the end, 32 bytes at a time: the last of them may reach into what was mixed before.
  for (let done: u32 = 32; done < rest + 32; done += 32) {
    const part = at + rest - done;
    y = rotr<u64>(y - x, 42) * K0 + v1;
    w0 += load<u64>(part, 16);
    x = rotr<u64>(x, 49) * K0 + w0;
    w0 += v0;
    mixV(part, v0, v1);
  }
  x = hashPair(x, v0);
  y = hashPair(y, w0);
  store<u64>(to, hashPair(x + v1, w1) + y);
  store<u64>(to, hashPair(x + w1, y + v1), 8);
}

function mix64(at: u32): void {
  x = (rotr<u64>(x + y + v0 + load<u64>(at, 16), 37) * K1) ^ w1;
  y = (rotr<u64>(y + v1 + load<u64>(at, 48), 42) * K1) ^ v0;
  z = rotr<u64>(z ^ w0, 33);
  mixV(at, v1 * K1, x + w0);
  mixW(at + 32, z + w1, y);
  const swapped = x;
  x = z;
  z = swapped;
}

function mixV(at: u32, a: u64, b: u64): void {
  const start = a + load<u64>(at);
  const last = load<u64>(at, 24);
  const sum = start + load<u64>(at, 8) + load<u64>(at, 16);
  v0 = sum + last;
  v1 = rotr<u64>(b + start + last, 21) + rotr<u64>(sum, 44) + start;
}

function mixW(at: u32, a: u64, b: u64): void {
  const start = a + load<u64>(at);
  const last = load<u64>(at, 24);
  const sum = start + load<u64>(at, 8) + load<u64>(at, 16);
  w0 = sum + last;
  w1 = rotr<u64>(b + start + last, 21) + rotr<u64>(sum, 44) + start;
}

/** Of less than 128 bytes. */
function hashShort(from: u32, length: u32, first: u64, second: u64, to: u32): void {
  let a = first;
  let b = second;
  let c: u64 = 0;
  let d: u64 = 0;
  if (length <= 16) {
    a = shiftMix(a * K1) * K1;
    c = b * K1 + hashAtMost16(from, length);
    d = shiftMix(a + (length >= 8 ? load<u64>(from) : c));
  } else {
    c = hashPair(load<u64>(from + length - 8) + K1, a);
    d = hashPair(b + length, c + load<u64>(from + length - 16));
    a += d;
    // The last 16 bytes have been mixed already.
    for (let at: u32 = 0; at + 16 < length; at += 16) {
      a = (a ^ (shiftMix(load<u64>(from + at) * K1) * K1)) * K1;
      b ^= a;
      c = (c ^ (shiftMix(load<u64>(from + at, 8) * K1) * K1)) * K1;
      d ^= c;
    }
  }
  a = hashPair(a, c);
  b = hashPair(d, b);
  store<u64>(to, a ^ b);
  store<u64>(to, hashPair(b, a), 8);
}

function hashAtMost16(from: u32, length: u32): u64 {
  if (length > 8) {
    const last = load<u64>(from + length - 8);
    return hashPair(load<u64>(from), rotr<u64>(last + length, length)) ^ last;
  }
  if (length >= 4) return hashPair(length + ((<u64>load<u32>(from)) << 3), load<u32>(from + length - 4));
  if (length === 0) return K2;
  const ends: u64 = <u64>load<u8>(from) + ((<u64>load<u8>(from + (length >> 1))) << 8);
  const tail: u64 = length + ((<u64>load<u8>(from + length - 1)) << 2);
  return shiftMix((ends * K2) ^ (tail * K3)) * K2;
}

function hashPair(low: u64, high: u64): u64 {
  const mixed = shiftMix((low ^ high) * PAIR_FACTOR);
  return shiftMix((high ^ mixed) * PAIR_FACTOR) * PAIR_FACTOR;
}

function shiftMix(value: u64): u64 {
  return value ^ (value >> 47);
}
