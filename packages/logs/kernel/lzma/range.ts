/* The range decoder of LZMA. Part of ../lzma.ts. */
import { PROBS } from './state';

let range: u32 = 0;
let code: u32 = 0;
/** The next byte of the input; beyond its end, zeros are read. */
export let next: u32 = 0;
let end: u32 = 0;

export function startRange(from: u32, inputEnd: u32): bool {
  if (inputEnd - from < 5) return false;
  range = 0xffffffff;
  code = bswap<u32>(load<u32>(from + 1));
  next = from + 5;
  end = inputEnd;
  return load<u8>(from) === 0;
}

/** At the end of a chunk nothing is left of the code. */
export function codeIsZero(): bool {
  normalize();
  return code === 0;
}

function normalize(): void {
  if (range >= 0x1000000) return;
  range <<= 8;
  code = (code << 8) | (next < end ? <u32>load<u8>(next) : 0);
  next++;
}

export function decodeBit(index: u32): u32 {
  normalize();
  const address = PROBS + (index << 1);
  const prob = <u32>load<u16>(address);
  const bound = (range >> 11) * prob;
  if (code < bound) {
    range = bound;
    store<u16>(address, <u16>(prob + ((2048 - prob) >> 5)));
    return 0;
  }
  range -= bound;
  code -= bound;
  store<u16>(address, <u16>(prob - (prob >> 5)));
  return 1;
}

export function decodeTree(probs: u32, bits: u32): u32 {
  let symbol: u32 = 1;
  for (let i: u32 = 0; i < bits; i++) symbol = (symbol << 1) | decodeBit(probs + symbol);
  return symbol - (1 << bits);
}

/** Like a tree, with the lowest bit first. */
export function decodeReverse(probs: u32, bits: u32): u32 {
  let node: u32 = 1;
  let symbol: u32 = 0;
  for (let i: u32 = 0; i < bits; i++) {
    const bit = decodeBit(probs + node);
    node = (node << 1) | bit;
    symbol |= bit << i;
  }
  return symbol;
}

export function decodeDirect(bits: u32): u32 {
  let value: u32 = 0;
  for (let i: u32 = 0; i < bits; i++) {
    normalize();
    range >>= 1;
    const bit: u32 = code >= range ? 1 : 0;
    if (bit !== 0) code -= range;
    value = (value << 1) | bit;
  }
  return value;
}
