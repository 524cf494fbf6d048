/* Tables of finite state entropy codes (RFC 8878, 4.1). Part of ../zstd.ts. */
import { highBit } from './bits';
import { COUNTS, NEXT_STATES } from './state';

/** An entry: symbol, number of bits to read (from bit 8), and what to add to them for the next state (from bit 16). */
export function entryAt(table: u32, state: u32): u32 {
  return load<u32>(table + (state << 2));
}

/** The accuracy of the counts that were read last. */
export let log: u32 = 0;

function bitsAt(from: u32, at: u32, count: u32): u32 {
  return (load<u32>(from + (at >> 3)) >> (at & 7)) & ((1 << count) - 1);
}

/** Reads counts and builds their table. Returns the number of bytes read, 0 if they are invalid. */
export function readTable(from: u32, end: u32, maxLog: u32, maxSymbol: u32, table: u32): u32 {
  log = (load<u8>(from) & 15) + 5;
  if (from >= end || log > maxLog) return 0;
  let at: u32 = 4;
  let remaining: i32 = (1 << log) + 1;
  let threshold: i32 = 1 << log;
  let bits = log + 1;
  let symbol: u32 = 0;
  let wasZero = false;
  while (remaining > 1 && symbol <= maxSymbol) {
    if (from + (at >> 3) > end) return 0;
    if (wasZero) {
      let repeat: u32 = 3;
      while (repeat === 3) {
        repeat = bitsAt(from, at, 2);
        at += 2;
        if (symbol + repeat > maxSymbol) return 0;
        for (let i: u32 = 0; i < repeat; i++) store<i16>(COUNTS + (symbol++ << 1), 0);
      }
    }
    const max = 2 * threshold - 1 - remaining;
    const value = <i32>bitsAt(from, at, bits);
    let count = value & (threshold - 1);
    if (count < max) at += bits - 1;
    else {
      count = value & (2 * threshold - 1);
      if (count >= threshold) count -= max;
      at += bits;
    }
    count--;
    remaining -= count < 0 ? -count : count;
    store<i16>(COUNTS + (symbol++ << 1), <i16>count);
    wasZero = count === 0;
    while (remaining < threshold && threshold > 1) {
      bits--;
      threshold >>= 1;
    }
  }
  const bytes = (at + 7) >> 3;
  if (remaining !== 1 || from + bytes > end) return 0;
  return buildTable(COUNTS, symbol, log, table) ? bytes : 0;
}

/** False if the counts do not fill the table. */
export function buildTable(counts: u32, symbols: u32, tableLog: u32, table: u32): bool {
  const size: u32 = 1 << tableLog;
  let high = size;
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const count = <i32>load<i16>(counts + (symbol << 1));
    store<u16>(NEXT_STATES + (symbol << 1), <u16>(count < 0 ? 1 : count));
    if (count < 0) store<u32>(table + (--high << 2), symbol);
  }
  const step = (size >> 1) + (size >> 3) + 3;
  let at: u32 = 0;
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const count = <i32>load<i16>(counts + (symbol << 1));
    for (let i = 0; i < count; i++) {
      store<u32>(table + (at << 2), symbol);
      do at = (at + step) & (size - 1);
      while (at >= high);
    }
  }
  if (at !== 0) return false;
  for (let state: u32 = 0; state < size; state++) {
    const symbol = load<u32>(table + (state << 2)) & 255;
    const next = <u32>load<u16>(NEXT_STATES + (symbol << 1));
    store<u16>(NEXT_STATES + (symbol << 1), <u16>(next + 1));
    const bits = tableLog - highBit(next);
    store<u32>(table + (state << 2), symbol | (bits << 8) | (((next << bits) - size) << 16));
  }
  return true;
}

/** A table with one symbol, which takes no bits. */
export function buildSingle(symbol: u32, table: u32): void {
  store<u32>(table, symbol);
}
