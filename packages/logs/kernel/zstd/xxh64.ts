/* XXH64 of a text that arrives in pieces (RFC 8878, 3.1.1). Part of ../zstd.ts. */

const P1: u64 = ((<u64>0x9e3779b1) << 32) | 0x85ebca87;
const P2: u64 = ((<u64>0xc2b2ae3d) << 32) | 0x27d4eb4f;
const P3: u64 = ((<u64>0x165667b1) << 32) | 0x9e3779f9;
const P4: u64 = ((<u64>0x85ebca77) << 32) | 0xc2b2ae63;
const P5: u64 = ((<u64>0x27d4eb2f) << 32) | 0x165667c5;

const STRIPE_BYTES: u32 = 32;
/** The begin of a stripe whose rest is in the next piece. */
const REST: u32 = 16320;

let a: u64 = 0;
let b: u64 = 0;
let c: u64 = 0;
let d: u64 = 0;
let total: u64 = 0;
let restBytes: u32 = 0;

export function startSum(): void {
  a = P1 + P2;
  b = P2;
  c = 0;
  d = 0 - P1;
  total = 0;
  restBytes = 0;
}

function round(sum: u64, value: u64): u64 {
  return rotl<u64>(sum + value * P2, 31) * P1;
}

function addStripe(at: u32): void {
  a = round(a, load<u64>(at));
  b = round(b, load<u64>(at + 8));
  c = round(c, load<u64>(at + 16));
  d = round(d, load<u64>(at + 24));
}

export function addToSum(from: u32, end: u32): void {
  let at = from;
  total += <u64>(end - from);
  if (restBytes > 0) {
    const missing = min<u32>(STRIPE_BYTES - restBytes, end - at);
    memory.copy(REST + restBytes, at, missing);
    restBytes += missing;
    at += missing;
    if (restBytes < STRIPE_BYTES) return;
    addStripe(REST);
    restBytes = 0;
  }
  for (; end - at >= STRIPE_BYTES; at += STRIPE_BYTES) addStripe(at);
  restBytes = end - at;
  memory.copy(REST, at, restBytes);
}

/** The lower half of the sum, which a frame ends with. */
export function sumLow(): u32 {
  let sum: u64 = P5;
  if (total >= <u64>STRIPE_BYTES) {
    sum = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18);
    sum = merge(merge(merge(merge(sum, a), b), c), d);
  }
  sum += total;
  let at = REST;
  const end = REST + restBytes;
  for (; end - at >= 8; at += 8) sum = rotl<u64>(sum ^ round(0, load<u64>(at)), 27) * P1 + P4;
  if (end - at >= 4) {
    sum = rotl<u64>(sum ^ (<u64>load<u32>(at) * P1), 23) * P2 + P3;
    at += 4;
  }
  for (; at < end; at++) sum = rotl<u64>(sum ^ (<u64>load<u8>(at) * P5), 11) * P1;
  sum = (sum ^ (sum >> 33)) * P2;
  sum = (sum ^ (sum >> 29)) * P3;
  return <u32>(sum ^ (sum >> 32));
}

function merge(sum: u64, value: u64): u64 {
  return (sum ^ round(0, value)) * P1 + P4;
}
