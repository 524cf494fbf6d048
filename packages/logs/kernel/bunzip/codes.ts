/* The Huffman codes of a block: up to six sets, of which each 50 symbols select one. Part of ../bunzip.ts. */
import { bits, peek, ranOut, skip } from './bits';
import { CODES, CODES_BYTES, IN_USE, LENGTHS, ORDER, SELECTORS } from './state';

const MAX_BITS: u32 = 20;
const GROUP_SYMBOLS: u32 = 50;
const MAX_SELECTORS: u32 = 18002;

// A set of codes: for each length the first code beyond it, shifted to MAX_BITS, and what turns a code into an index.
const LIMITS: u32 = 0;
const BASES: u32 = 96;
const SYMBOLS: u32 = 192;

export let symbolsInUse: u32 = 0;
export let groups: u32 = 0;
let selectors: u32 = 0;
let nextSelector: u32 = 0;
let leftInGroup: u32 = 0;
let codes: u32 = CODES;

export function readSymbolsInUse(): bool {
  const ranges = bits(16);
  symbolsInUse = 0;
  for (let range: u32 = 0; range < 16; range++) {
    if ((ranges & (0x8000 >> range)) === 0) continue;
    const used = bits(16);
    for (let i: u32 = 0; i < 16; i++) {
      if ((used & (0x8000 >> i)) !== 0) store<u8>(IN_USE + symbolsInUse++, <u8>(range * 16 + i));
    }
  }
  return symbolsInUse > 0;
}

export function readCodes(): bool {
  groups = bits(3);
  selectors = bits(15);
  if (groups < 2 || groups > 6 || selectors === 0) return false;
  for (let i: u32 = 0; i < groups; i++) store<u8>(ORDER + i, <u8>i);
  for (let i: u32 = 0; i < selectors; i++) {
    let index: u32 = 0;
    while (bits(1) !== 0) if (++index >= groups) return false;
    if (ranOut) return false;
    const selector = load<u8>(ORDER + index);
    memory.copy(ORDER + 1, ORDER, index);
    store<u8>(ORDER, selector);
    store<u8>(SELECTORS + i, selector);
  }
  // More are never used; some programs write them.
  if (selectors > MAX_SELECTORS) selectors = MAX_SELECTORS;
  for (let group: u32 = 0; group < groups; group++) {
    if (!readLengths() || !buildCodes(CODES + group * CODES_BYTES)) return false;
  }
  return true;
}

function readLengths(): bool {
  let length = bits(5);
  for (let symbol: u32 = 0; symbol < symbolsInUse + 2; symbol++) {
    while (true) {
      if (ranOut || length < 1 || length > MAX_BITS) return false;
      if (bits(1) === 0) break;
      length = bits(1) === 0 ? length + 1 : length - 1;
    }
    store<u8>(LENGTHS + symbol, <u8>length);
  }
  return true;
}

/** False if there are more codes than their lengths allow. */
function buildCodes(to: u32): bool {
  let code: u32 = 0;
  let index: u32 = 0;
  for (let length: u32 = 1; length <= MAX_BITS; length++) {
    store<u32>(to + BASES + (length << 2), index - code);
    for (let symbol: u32 = 0; symbol < symbolsInUse + 2; symbol++) {
      if (<u32>load<u8>(LENGTHS + symbol) !== length) continue;
      store<u16>(to + SYMBOLS + (index++ << 1), <u16>symbol);
      code++;
    }
    if (code > (<u32>1) << length) return false;
    store<u32>(to + LIMITS + (length << 2), code << (MAX_BITS - length));
    code <<= 1;
  }
  return true;
}

export function startSymbols(): void {
  nextSelector = 0;
  leftInGroup = 0;
}

/** Returns 0xffff for an invalid code. */
export function readSymbol(): u32 {
  if (leftInGroup === 0) {
    if (nextSelector >= selectors) return 0xffff;
    codes = CODES + <u32>load<u8>(SELECTORS + nextSelector++) * CODES_BYTES;
    leftInGroup = GROUP_SYMBOLS;
  }
  leftInGroup--;
  const next = peek(MAX_BITS);
  for (let length: u32 = 1; length <= MAX_BITS; length++) {
    if (next >= load<u32>(codes + LIMITS + (length << 2))) continue;
    skip(length);
    const index = load<u32>(codes + BASES + (length << 2)) + (next >> (MAX_BITS - length));
    return <u32>load<u16>(codes + SYMBOLS + (index << 1));
  }
  return 0xffff;
}
