/*
 * A decoder of compressed zstd blocks (RFC 8878), and the checksum of their text. Every size and distance is checked
 * before it is used. In AssemblyScript: `npm run kernel` compiles it to src/kernel/zstd-wasm.ts, which src/packed loads.
 */
export { addToSum, startSum, sumLow } from './zstd/xxh64';

// Constants of the module are below 8192.
const LL_TABLE: u32 = 8192;
const OF_TABLE: u32 = 10240;
const ML_TABLE: u32 = 12288;
const WEIGHT_TABLE: u32 = 14336;
const COUNTS: u32 = 14592;
const NEXT_STATES: u32 = 15104;
const WEIGHTS: u32 = 15616;
const HUFFMAN_TABLE: u32 = 16384;
/** Literals of one block; up to 16 bytes beyond them are copied. */
const LITERALS: u32 = 24576;
/** One block; up to 16 bytes beyond it are read, and before it. */
export const INPUT: u32 = 163840;
export const MAX_BLOCK_BYTES: u32 = 131072;
/** The output, of which the last window is kept. It ends where `start` says. */
export const OUTPUT: u32 = 303104;
export const MEMORY_BYTES: u32 = OUTPUT;

export const DONE: i32 = 0;
export const BAD_LITERALS: i32 = 1;
export const BAD_CODES: i32 = 2;
export const BAD_SEQUENCES: i32 = 3;
export const BAD_DISTANCE: i32 = 4;

/** End of the output, and the oldest byte of it that a match may refer to. */
export let out: u32 = OUTPUT;
let oldest: u32 = OUTPUT;

export function putOut(end: u32): void {
  out = end;
}

/** A new frame: earlier output is out of its reach. */
function forget(): void {
  out = OUTPUT;
  oldest = OUTPUT;
}

/** Moved in one step. */
const SLIDE_BYTES: u32 = 8_388_608;
let slid: u32 = 0;

/** Makes room for output, keeping `windowBytes` of it, step by step. Returns whether it is done. */
export function slide(windowBytes: u32): bool {
  if (out - OUTPUT <= windowBytes) return true;
  const bytes = min<u32>(SLIDE_BYTES, windowBytes - slid);
  memory.copy(OUTPUT + slid, out - windowBytes + slid, bytes);
  slid += bytes;
  if (slid < windowBytes) return false;
  slid = 0;
  out = OUTPUT + windowBytes;
  return true;
}

/* Bit streams of zstd, which are read backwards from their last bit (RFC 8878, 4.1). */

/** Where the stream begins, and how many bits of it are left; negative if more were taken. */
let base: u32 = 0;
let left: i32 = 0;

/** False if the last byte lacks the bit that marks the end. */
function startBackward(from: u32, end: u32): bool {
  if (end <= from) return false;
  const last = <u32>load<u8>(end - 1);
  if (last === 0) return false;
  base = from;
  left = <i32>((end - from - 1) * 8 + highBit(last));
  return true;
}

function highBit(value: u32): u32 {
  return 31 - clz(value);
}

/** The next bits, at most 32, without taking them. Bits before the begin are 0. */
function peek(count: u32): u32 {
  const at = left - <i32>count;
  const mask = ((<u64>1) << count) - 1;
  if (at >= 0) return <u32>((load<u64>(base + (<u32>at >> 3)) >> (<u64>at & 7)) & mask);
  return at > -64 ? <u32>((load<u64>(base) << (<u64>-at)) & mask) : 0;
}

function skip(count: u32): void {
  left -= <i32>count;
}

function take(count: u32): u32 {
  const value = peek(count);
  left -= <i32>count;
  return value;
}

/* Tables of finite state entropy codes (RFC 8878, 4.1). */

/** An entry: symbol, number of bits to read (from bit 8), and what to add to them for the next state (from bit 16). */
function entryAt(table: u32, state: u32): u32 {
  return load<u32>(table + (state << 2));
}

/** The accuracy of the counts that were read last. */
let log: u32 = 0;

function bitsAt(from: u32, at: u32, count: u32): u32 {
  return (load<u32>(from + (at >> 3)) >> (at & 7)) & ((1 << count) - 1);
}

/** Reads counts and builds their table. Returns the number of bytes read, 0 if they are invalid. */
function readTable(from: u32, end: u32, maxLog: u32, maxSymbol: u32, table: u32): u32 {
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
function buildTable(counts: u32, symbols: u32, tableLog: u32, table: u32): bool {
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
function buildSingle(symbol: u32, table: u32): void {
  store<u32>(table, symbol);
}

/* The literals of a block (RFC 8878, 3.1.1.3.1). */

/** Bits of the longest code; 0: there is none to be used again. */
let huffmanBits: u32 = 0;

/** Number of literals, and where the section ends. */
let literals: u32 = 0;
let literalsEnd: u32 = 0;

function forgetCodes(): void {
  huffmanBits = 0;
}

/** Reads the section to LITERALS. */
function readLiterals(from: u32, end: u32): i32 {
  const head = load<u32>(from);
  const kind = head & 3;
  const format = (head >> 2) & 3;
  if (kind < 2) {
    const headBytes: u32 = format === 1 ? 2 : format === 3 ? 3 : 1;
    literals = format === 1 ? (head >> 4) & 0xfff : format === 3 ? (head >> 4) & 0xfffff : (head >> 3) & 0x1f;
    const bytes = kind === 0 ? literals : 1;
    literalsEnd = from + headBytes + bytes;
    if (literals > MAX_BLOCK_BYTES || literalsEnd > end) return BAD_LITERALS;
    if (kind === 0) memory.copy(LITERALS, from + headBytes, literals);
    else memory.fill(LITERALS, load<u8>(from + headBytes), literals);
    return DONE;
  }
  const headBytes: u32 = format < 2 ? 3 : format + 2;
  const sizeBits: u64 = format < 2 ? 10 : format === 2 ? 14 : 18;
  const sizes = load<u64>(from) >> 4;
  const mask = ((<u64>1) << sizeBits) - 1;
  literals = <u32>(sizes & mask);
  literalsEnd = from + headBytes + <u32>((sizes >> sizeBits) & mask);
  if (literals > MAX_BLOCK_BYTES || literalsEnd > end) return BAD_LITERALS;
  let at = from + headBytes;
  if (kind === 2) {
    at = readCodes(at, literalsEnd);
    if (at === 0) return BAD_CODES;
  } else if (huffmanBits === 0) return BAD_CODES;
  if (format === 0) return decodeStream(at, literalsEnd, LITERALS, literals) ? DONE : BAD_LITERALS;
  return decodeFour(at, literalsEnd) ? DONE : BAD_LITERALS;
}

function decodeFour(from: u32, end: u32): bool {
  if (from + 6 > end) return false;
  const part: u32 = (literals + 3) >> 2;
  if (part * 3 > literals) return false;
  let at = from + 6;
  for (let i: u32 = 0; i < 3; i++) {
    const next = at + <u32>load<u16>(from + 2 * i);
    if (next > end || !decodeStream(at, next, LITERALS + i * part, part)) return false;
    at = next;
  }
  return decodeStream(at, end, LITERALS + part * 3, literals - part * 3);
}

function decodeStream(from: u32, end: u32, to: u32, count: u32): bool {
  if (!startBackward(from, end)) return false;
  const bits = huffmanBits;
  const last = to + count;
  for (let at = to; at < last; at++) {
    const entry = <u32>load<u16>(HUFFMAN_TABLE + (peek(bits) << 1));
    store<u8>(at, <u8>entry);
    skip(entry >> 8);
  }
  return left === 0;
}

/** Returns where the codes end; 0 if they are invalid. */
function readCodes(from: u32, end: u32): u32 {
  huffmanBits = 0;
  if (from >= end) return 0;
  const head = <u32>load<u8>(from);
  const codesEnd = from + 1 + (head < 128 ? head : (head - 126) >> 1);
  if (codesEnd > end) return 0;
  const count = head < 128 ? readWeights(from + 1, codesEnd) : copyWeights(from + 1, head - 127);
  return count > 0 && buildCodes(count) ? codesEnd : 0;
}

function copyWeights(from: u32, count: u32): u32 {
  for (let i: u32 = 0; i < count; i++) {
    const pair = <u32>load<u8>(from + (i >> 1));
    store<u8>(WEIGHTS + i, <u8>((i & 1) === 0 ? pair >> 4 : pair & 15));
  }
  return count;
}

/** Two states take turns until the bits run out. */
function readWeights(from: u32, end: u32): u32 {
  const tableBytes = readTable(from, end, 6, 255, WEIGHT_TABLE);
  if (tableBytes === 0 || !startBackward(from + tableBytes, end)) return 0;
  let needs = log;
  let nextNeeds = log;
  let state: u32 = 0;
  let nextState: u32 = 0;
  let count: u32 = 0;
  while (left >= <i32>needs) {
    if (count >= 255) return 0;
    const entry = entryAt(WEIGHT_TABLE, state + take(needs));
    store<u8>(WEIGHTS + count++, <u8>entry);
    state = nextState;
    needs = nextNeeds;
    nextState = entry >> 16;
    nextNeeds = (entry >> 8) & 255;
  }
  return count;
}

/** The last weight is not stored: it makes the sum a power of two. */
function buildCodes(count: u32): bool {
  let sum: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const weight = <u32>load<u8>(WEIGHTS + i);
    if (weight > 11) return false;
    sum += (1 << weight) >> 1;
  }
  if (sum === 0) return false;
  const bits = highBit(sum) + 1;
  const rest = (1 << bits) - sum;
  if (bits > 11 || (rest & (rest - 1)) !== 0) return false;
  store<u8>(WEIGHTS + count, <u8>(highBit(rest) + 1));
  let at = HUFFMAN_TABLE;
  for (let weight: u32 = 1; weight <= bits; weight++) {
    for (let symbol: u32 = 0; symbol <= count; symbol++) {
      if (<u32>load<u8>(WEIGHTS + symbol) !== weight) continue;
      const entry = symbol | ((bits + 1 - weight) << 8);
      const end = at + (1 << weight);
      for (; at < end; at += 2) store<u16>(at, <u16>entry);
    }
  }
  huffmanBits = bits;
  return true;
}

/* The sequences of a block: literals to copy, and matches in the text before (RFC 8878, 3.1.1.3.2). */

// Lengths by code: what the bits are added to, and their number.
const LL_BASE = memory.data<u32>([
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 128, 256, 512, 1024,
  2048, 4096, 8192, 16384, 32768, 65536,
]);
const LL_BITS = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
]);
const ML_BASE = memory.data<u32>([
  3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
  34, 35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539,
]);
const ML_BITS = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3,
  3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
]);

// The counts that apply if a block has none.
const LL_COUNTS = memory.data<i16>([
  4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1,
]);
const ML_COUNTS = memory.data<i16>([
  1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
]);
const OF_COUNTS = memory.data<i16>([
  1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
]);

const MAX_LL_CODE: u32 = 35;
const MAX_ML_CODE: u32 = 52;
const MAX_OF_CODE: u32 = 31;

/** Accuracy of the tables; NO_TABLE: none to be used again. */
const NO_TABLE: u32 = 255;
let llLog: u32 = NO_TABLE;
let ofLog: u32 = NO_TABLE;
let mlLog: u32 = NO_TABLE;

/** The distances used last. */
let recent0: u32 = 1;
let recent1: u32 = 4;
let recent2: u32 = 8;

let tablesAt: u32 = 0;

function forgetSequences(): void {
  llLog = ofLog = mlLog = NO_TABLE;
  recent0 = 1;
  recent1 = 4;
  recent2 = 8;
}

/** Writes the block; its output must end at `limit` or before. */
function runSequences(from: u32, end: u32, limit: u32): i32 {
  if (from >= end) return BAD_SEQUENCES;
  const first = <u32>load<u8>(from);
  let count = first;
  tablesAt = from + 1;
  if (first === 255) {
    count = <u32>load<u16>(from + 1) + 0x7f00;
    tablesAt += 2;
  } else if (first > 127) {
    count = ((first - 128) << 8) | <u32>load<u8>(from + 1);
    tablesAt += 1;
  }
  if (count === 0) return tablesAt === end ? copyRest(LITERALS, limit) : BAD_SEQUENCES;
  if (tablesAt >= end || !readTables(<u32>load<u8>(tablesAt++), end)) return BAD_CODES;
  if (!startBackward(tablesAt, end)) return BAD_SEQUENCES;
  return decodeSequences(count, limit);
}

function readTables(modes: u32, end: u32): bool {
  if ((modes & 3) !== 0) return false;
  llLog = openTable((modes >> 6) & 3, end, LL_TABLE, llLog, 9, MAX_LL_CODE);
  if (llLog === NO_TABLE) return false;
  ofLog = openTable((modes >> 4) & 3, end, OF_TABLE, ofLog, 8, MAX_OF_CODE);
  if (ofLog === NO_TABLE) return false;
  mlLog = openTable((modes >> 2) & 3, end, ML_TABLE, mlLog, 9, MAX_ML_CODE);
  return mlLog !== NO_TABLE;
}

/** Returns the accuracy of the table. */
function openTable(mode: u32, end: u32, table: u32, before: u32, maxLog: u32, maxSymbol: u32): u32 {
  if (mode === 3) return before;
  if (mode === 0) return buildDefault(table);
  if (tablesAt >= end) return NO_TABLE;
  if (mode === 1) {
    const symbol = <u32>load<u8>(tablesAt++);
    buildSingle(symbol, table);
    return symbol <= maxSymbol ? 0 : NO_TABLE;
  }
  const bytes = readTable(tablesAt, end, maxLog, maxSymbol, table);
  tablesAt += bytes;
  return bytes === 0 ? NO_TABLE : log;
}

function buildDefault(table: u32): u32 {
  if (table === LL_TABLE) return buildTable(<u32>LL_COUNTS, 36, 6, table) ? 6 : NO_TABLE;
  if (table === ML_TABLE) return buildTable(<u32>ML_COUNTS, 53, 6, table) ? 6 : NO_TABLE;
  return buildTable(<u32>OF_COUNTS, 29, 5, table) ? 5 : NO_TABLE;
}

function decodeSequences(count: u32, limit: u32): i32 {
  let literal = LITERALS;
  const literalsEnd = LITERALS + literals;
  let to = out;
  let ll = entryAt(LL_TABLE, take(llLog));
  let off = entryAt(OF_TABLE, take(ofLog));
  let ml = entryAt(ML_TABLE, take(mlLog));
  for (let i: u32 = 1; ; i++) {
    const offsetBits = off & 255;
    const offset = ((<u64>1) << (<u64>offsetBits)) + <u64>take(offsetBits);
    const mlCode = ml & 255;
    const matchBytes = load<u32>(ML_BASE + (mlCode << 2)) + take(<u32>load<u8>(ML_BITS + mlCode));
    const llCode = ll & 255;
    const literalBytes = load<u32>(LL_BASE + (llCode << 2)) + take(<u32>load<u8>(LL_BITS + llCode));
    if (i < count) {
      ll = entryAt(LL_TABLE, (ll >> 16) + take((ll >> 8) & 255));
      ml = entryAt(ML_TABLE, (ml >> 16) + take((ml >> 8) & 255));
      off = entryAt(OF_TABLE, (off >> 16) + take((off >> 8) & 255));
    }
    if (left < 0) return BAD_SEQUENCES;
    if (literal + literalBytes > literalsEnd || to + literalBytes + matchBytes > limit) return BAD_SEQUENCES;
    memory.copy(to, literal, literalBytes);
    literal += literalBytes;
    to += literalBytes;
    const distance = distanceOf(offset, literalBytes === 0);
    if (distance === 0 || distance > to - oldest) return BAD_DISTANCE;
    copyMatch(to, distance, matchBytes);
    to += matchBytes;
    if (i === count) break;
  }
  putOut(to);
  return left === 0 ? copyRest(literal, limit) : BAD_SEQUENCES;
}

function distanceOf(offset: u64, hasNoLiterals: bool): u32 {
  if (offset > 3) {
    recent2 = recent1;
    recent1 = recent0;
    recent0 = <u32>min<u64>(offset - 3, u32.MAX_VALUE);
    return recent0;
  }
  const index = <u32>offset - 1 + (hasNoLiterals ? 1 : 0);
  if (index === 0) return recent0;
  const distance = index === 1 ? recent1 : index === 2 ? recent2 : recent0 - 1;
  if (index > 1) recent2 = recent1;
  recent1 = recent0;
  recent0 = distance;
  return distance;
}

function copyMatch(to: u32, distance: u32, bytes: u32): void {
  if (distance >= bytes) {
    memory.copy(to, to - distance, bytes);
    return;
  }
  const end = to + bytes;
  for (let at = to; at < end; at++) store<u8>(at, load<u8>(at - distance));
}

/** The literals after the last sequence. */
function copyRest(literal: u32, limit: u32): i32 {
  const bytes = LITERALS + literals - literal;
  if (out + bytes > limit) return BAD_SEQUENCES;
  memory.copy(out, literal, bytes);
  putOut(out + bytes);
  return DONE;
}

/** Begins a frame. */
export function start(): void {
  forget();
  forgetCodes();
  forgetSequences();
}

/** Appends the text of the block at INPUT to the output, at most `maxBytes`. */
export function run(bytes: u32, maxBytes: u32): i32 {
  const end = INPUT + bytes;
  const result = readLiterals(INPUT, end);
  return result === DONE ? runSequences(literalsEnd, end, out + maxBytes) : result;
}
