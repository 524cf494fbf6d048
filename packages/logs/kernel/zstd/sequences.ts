/* The sequences of a block: literals to copy, and matches in the text before (RFC 8878, 3.1.1.3.2). Part of ../zstd.ts. */
import { left, startBackward, take } from './bits';
import { buildSingle, buildTable, entryAt, log, readTable } from './fse';
import { literals } from './literals';
import {
  BAD_CODES,
  BAD_DISTANCE,
  BAD_SEQUENCES,
  DONE,
  LITERALS,
  LL_TABLE,
  ML_TABLE,
  OF_TABLE,
  oldest,
  out,
  putOut,
} from './state';

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

export function forgetSequences(): void {
  llLog = ofLog = mlLog = NO_TABLE;
  recent0 = 1;
  recent1 = 4;
  recent2 = 8;
}

/** Writes the block; its output must end at `limit` or before. */
export function runSequences(from: u32, end: u32, limit: u32): i32 {
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
  return run(count, limit);
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

function run(count: u32, limit: u32): i32 {
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
