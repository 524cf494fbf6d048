/* Groups the records of a block of the native format by level and source. Part of ../scan.ts. */
import {
  FOUND_VALUE,
  GROUP_COUNTS,
  GROUP_FIRST_MS,
  GROUP_HASHES,
  GROUP_LAST_MS,
  GROUP_LENGTHS,
  GROUP_NEWEST,
  GROUP_RANKS,
  GROUP_SLOTS,
  GROUP_SLOTS_BYTES,
  GROUP_STARTS,
  LEVELS,
  MAX_BLOCK_GROUPS,
  OTHERS,
  POSITIONS,
  TEXT,
  TIMES,
} from '../scan';
import { behindLevel, findSourceEnd, NONE } from './columns';

/** Sources beyond so many bytes of a line are left to the host. */
const MAX_SOURCE_END: u32 = 1024;

let groups: u32 = 0;

/**
 * Groups the first `count` records that `heads` has found, whose times may have been changed since, as far as their level
 * is among those of `ranks` (a bit for each), their time in `[fromMs, toMs)`, if `hasTimes`, and their position in
 * `[from, to)`. Their text ends at `end`. Returns the number of groups. The indices of records that are in none, because
 * they have no source or are unusual, or because there are too many groups, are left in OTHERS, and how many there are in
 * FOUND_VALUE.
 */
export function groupSources(
  count: u32,
  end: u32,
  ranks: u32,
  hasTimes: bool,
  fromMs: f64,
  toMs: f64,
  from: u32,
  to: u32,
): u32 {
  memory.fill(GROUP_SLOTS, 0, GROUP_SLOTS_BYTES);
  groups = 0;
  let others: u32 = OTHERS;
  for (let index: u32 = 0; index < count; index++) {
    const rank = <u32>load<u8>(LEVELS + index);
    if (((ranks >> rank) & 1) === 0) continue;
    const position = load<u32>(POSITIONS + (index << 2));
    if (position < from || position >= to) continue;
    const time = load<f64>(TIMES + (index << 3));
    if (hasTimes && !(time >= fromMs && time < toMs)) continue;
    if (rank !== 0 && countRecord(position, end, rank, time)) continue;
    store<u32>(others, index);
    others += 4;
  }
  store<u32>(FOUND_VALUE, (others - OTHERS) >> 2);
  return groups;
}

function countRecord(position: u32, end: u32, rank: u32, time: f64): bool {
  const line = TEXT + position;
  const start = behindLevel(line, TEXT + end);
  if (start === NONE) return false;
  const sourceEnd = findSourceEnd(start, TEXT + end);
  if (sourceEnd === NONE || sourceEnd - line > MAX_SOURCE_END) return false;
  const group = findGroup(start, sourceEnd - start, rank);
  if (group === MAX_BLOCK_GROUPS) return false;
  const known = load<u32>(GROUP_COUNTS + (group << 2));
  store<u32>(GROUP_COUNTS + (group << 2), known + 1);
  if (known === 0 || time < load<f64>(GROUP_FIRST_MS + (group << 3))) store<f64>(GROUP_FIRST_MS + (group << 3), time);
  if (known === 0 || time >= load<f64>(GROUP_LAST_MS + (group << 3))) {
    store<f64>(GROUP_LAST_MS + (group << 3), time);
    store<u32>(GROUP_NEWEST + (group << 2), position);
  }
  return true;
}

/** The number of a group, which is added if it is new; MAX_BLOCK_GROUPS if there is no room for it. */
function findGroup(start: u32, length: u32, rank: u32): u32 {
  const mask: u32 = MAX_BLOCK_GROUPS * 4 - 1;
  const hash = hashBytes(start, length, rank);
  let slot = hash & mask;
  while (true) {
    const group = <u32>load<u16>(GROUP_SLOTS + (slot << 1));
    if (group === 0) break;
    if (isGroup(group - 1, hash, start, length, rank)) return group - 1;
    slot = (slot + 1) & mask;
  }
  if (groups === MAX_BLOCK_GROUPS) return MAX_BLOCK_GROUPS;
  const group = groups++;
  const at = group << 2;
  store<u16>(GROUP_SLOTS + (slot << 1), <u16>groups);
  store<u32>(GROUP_STARTS + at, start - TEXT);
  store<u32>(GROUP_LENGTHS + at, length);
  store<u32>(GROUP_HASHES + at, hash);
  store<u32>(GROUP_RANKS + at, rank);
  store<u32>(GROUP_COUNTS + at, 0);
  return group;
}

function isGroup(group: u32, hash: u32, start: u32, length: u32, rank: u32): bool {
  const at = group << 2;
  if (
    load<u32>(GROUP_HASHES + at) !== hash ||
    load<u32>(GROUP_LENGTHS + at) !== length ||
    load<u32>(GROUP_RANKS + at) !== rank
  )
    return false;
  const known = TEXT + load<u32>(GROUP_STARTS + at);
  let done: u32 = 0;
  for (; done + 8 <= length; done += 8) if (load<u64>(known + done) !== load<u64>(start + done)) return false;
  return done === length || firstBytes(known + done, length - done) === firstBytes(start + done, length - done);
}

function hashBytes(start: u32, length: u32, rank: u32): u32 {
  let hash: u64 = ((<u64>length) << 3) | <u64>rank;
  let done: u32 = 0;
  for (; done + 8 <= length; done += 8) hash = mix(hash, load<u64>(start + done));
  if (done < length) hash = mix(hash, firstBytes(start + done, length - done));
  return <u32>(hash ^ (hash >> 32));
}

function mix(hash: u64, value: u64): u64 {
  const product = (hash ^ value) * (((<u64>0x9e3779b9) << 32) | 0x7f4a7c15);
  return product ^ (product >> 29);
}

/** Fewer than eight bytes, the others zero. */
function firstBytes(at: u32, length: u32): u64 {
  return load<u64>(at) & (((<u64>1) << ((<u64>length) << 3)) - 1);
}
